"""What the tests of the statistics share: the module `stats_making` beside this file."""

import sys
from pathlib import Path

# The tests are no package, so a module that they share is found by its folder.
sys.path.insert(0, str(Path(__file__).parent))
