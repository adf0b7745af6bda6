"""Calibration for a program: of a store that it holds or names."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from rightcall.run.calibration.calibrating import calibrate
from rightcall.run.calibration.reading import Wanted
from rightcall.settings.load import load_settings
from rightcall.settings.model import Settings
from rightcall.store.store import Store

if TYPE_CHECKING:
    from rightcall.run.calibration.calibrating import CalibrationReport


def calibrate_given(
    store: Store | str | Path, settings: str | Path | None, *, judge: str | None, grader: str | None,
    field: str | None, runs: tuple[str, ...], split: str,
) -> CalibrationReport:  # fmt: skip
    """Compare judges with people; see `rightcall.calibrate`.

    Raises:
        ConfigError: settings that cannot be used. StoreError: a record that cannot be read, or no such run.
    """
    found = Settings() if settings is None else load_settings(Path(settings), os.environ, {}).settings
    table = found.calibrate
    wanted = Wanted(
        judge=judge, grader=grader, field=field, runs=runs, split=split, seed=table.seed, test_share=table.test_share
    )
    with ExitStack() as closing:
        record = store if isinstance(store, Store) else closing.enter_context(Store.open(store, create=False))
        return calibrate(record, wanted, table, policy=found.policy)
