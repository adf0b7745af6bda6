"""`rightcall review`: what waits for people."""

from __future__ import annotations

from typing import Annotated

from cyclopts import App, Parameter

from rightcall.cli.stores import ConfigFlag, JsonFlag, NoColor, StoreFlag, opened, print_json

app = App(name="review", help="What waits for people.")


@app.command(name="list")
def list_(
    *,
    run: Annotated[str | None, Parameter(help="Only of this run.")] = None,
    reason: Annotated[str | None, Parameter(help="Only for this reason: CRITICAL, unevaluable, …")] = None,
    json: JsonFlag = False,
    store: StoreFlag = None,
    config: ConfigFlag = None,
    no_color: NoColor = False,
) -> int:
    """List the review items: most urgent first, with the reason and the probability of having been drawn."""
    from rightcall.cli.screen import screen
    from rightcall.report.records import print_reviews
    from rightcall.run.finding import review_items

    with opened(store, config) as record:
        items = review_items(record, run, reason)
        if json:
            print_json({"items": items})
        else:
            others = len(review_items(record, None, None)) if not items else 0
            print_reviews(screen(no_color=no_color), items, others)
    return 0
