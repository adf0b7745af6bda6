"""The tests are no package, so a module that they share is found by its folder."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
