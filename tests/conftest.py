"""What several tests share."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared_data():
    """Return the folder of real recordings and reports beside the repository; skip where it is absent."""
    folder = Path(__file__).resolve().parents[2] / "shared"
    if not (folder / "data").is_dir():
        pytest.skip(f"needs the recordings in ../{folder.name}, which are not part of the repository")
    return folder
