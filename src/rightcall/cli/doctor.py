"""`rightcall doctor`: can this suite be run as it stands, and what is to be done?"""

from __future__ import annotations

import os
import sys
from typing import Annotated

from cyclopts import Parameter

from rightcall.cli.stores import ConfigFlag, JsonFlag, StoreFlag, print_json


def doctor(
    *,
    effective: Annotated[
        bool,
        Parameter(
            negative="", show_default=False, help="Print every setting with its value and origin, and check nothing."
        ),
    ] = False,
    offline: Annotated[
        bool, Parameter(negative="", show_default=False, help="Look at no endpoint of a judge.")
    ] = False,
    json: JsonFlag = False,
    store: StoreFlag = None,
    config: ConfigFlag = None,
) -> int:
    """Check settings, files, judges and store, and say what to do.

    Nothing is written, and no judge is asked a question: an endpoint is asked once for its list of models. Leaves with
    0 if all is well, 2 for settings or files that cannot be used, 5 if a judge or the store cannot be reached.
    """
    from rightcall import __version__
    from rightcall.cli.exits import unread_output
    from rightcall.report.doctor_lines import check_line, verdict_line
    from rightcall.run.checkup.doctor import checkup, exit_code
    from rightcall.run.judging.clock import now

    flags = {} if store is None else {"store": store}
    if effective:
        return _effective(flags, config, json=json)
    checks = []
    with unread_output():
        for check in checkup(config, os.environ, flags, now=now(), version=__version__, offline=offline):
            checks.append(check)
            if not json:
                print(check_line(check), flush=True)
        code = exit_code(checks)
        if json:
            print_json({"checks": checks, "exit_code": code})
    code = exit_code(checks)
    print(verdict_line(checks, code), file=sys.stderr)
    return code


def _effective(flags: dict[str, str], config: ConfigFlag, *, json: bool) -> int:
    from rightcall.cli.exits import unread_output
    from rightcall.report.doctor_lines import setting_lines
    from rightcall.settings.effective import effective
    from rightcall.settings.load import load_settings

    settings = effective(load_settings(config, os.environ, flags))
    with unread_output():
        if json:
            print_json({"settings": settings})
        else:
            print("\n".join(setting_lines(settings)))
    return 0
