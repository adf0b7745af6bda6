"""The reference values as a whole: every one of them is held against our own figures by some test of this folder."""

import ast
import re
from pathlib import Path

from stats_making import ROWS, needs_reference

TESTS = "\n".join(path.read_text("utf-8") for path in sorted(Path(__file__).parent.glob("test_*.py")))


def named():
    """Ids that tests name, and those whose statistic they pick by its beginning."""
    ids = {f"R{digits}" for digits in re.findall(r"[rR](\d{2,3})(?!\d)", TESTS)}
    starts = re.findall(r"""rows\((?:f?["'])([^"'{]+)""", TESTS)
    return ids | {id_ for id_, row in ROWS.items() if any(row["statistic"].startswith(start) for start in starts)}


@needs_reference
def test_every_reference_value_is_used():
    assert len(ROWS) == 116
    assert sorted(set(ROWS) - named()) == []


def test_every_public_function_stands_in_the_documentation():
    root = Path(__file__).parents[2]
    page = (root / "docs/statistics.md").read_text("utf-8")
    missing = []
    for file in sorted((root / "src/rightcall/stats").glob("*.py")):
        functions = [node.name for node in ast.parse(file.read_text("utf-8")).body if isinstance(node, ast.FunctionDef)]
        missing += [f"{file.stem}.{name}" for name in functions if not name.startswith("_")]
    assert {name for name in missing if f"`{name}`" not in page} == INNER


INNER = {
    "agreement.cohen", "agreement.kappa_standard_error", "alpha.alpha", "bootstrap.bootstrap_method",
    "bootstrap.percentiles", "bootstrap.resampled", "bounds.by_case", "bounds.p_value", "bounds.whole_worth", "calibration.all_log_odds", "calibration.check_stated",
    "calibration.log_odds", "drift.check_cusum", "first.first_that", "fitness.apart", "fitness.ceiling_condition", "fitness.certifiable",
    "fitness.condition", "intervals.in_cases", "intervals.invalid", "intervals.undefined", "intervals.wilson_bounds",
    "labelled.stratified_error", "logistic.chance", "logistic.cluster_scores", "logistic.fit_logistic",
    "logistic.information", "logistic.inverted", "logistic.score", "paired.outcome_pairs", "paired.tango_bounds", "paired_worth.changes_of",
    "paired.paired_standard_error", "pairwise.standard_error", "resampling.bootstrap_interval", "resampling.by_case",
    "resampling.cases_of", "sequential.log_e_value", "sign_test.check_counts",
}  # fmt: skip
"""Parts that the others are made of."""
