"""The command `rightcall`: only puts the verbs together. One module a verb; heavy imports happen inside them."""

from __future__ import annotations

import sys

from cyclopts import App

from rightcall import __version__
from rightcall.cli.exits import guarded

app = App(
    name="rightcall",
    help="Did the AI agent make the right tool calls, and how far can that answer be trusted?",
    version=__version__,
    help_on_error=False,
    suppress_keyboard_interrupt=False,  # `guarded` says what became of the run
)
# The first paragraph is what `rightcall --help` lists; a verb's module is only loaded when the verb is used.
VERBS = {
    "demo:demo": "Grade three invented suites, here and now. Always leaves with 0.",
    "starting:init": """Write a first suite from your own traces.

Writes rightcall.toml, a catalog, guessed tool classes, goldens from accepted traces, gates and a CI workflow. It runs
as it is: `rightcall run`. Nothing that exists is overwritten.""",
    "inspecting:inspect": "Show what an export holds, which tools it uses, and what cannot be judged and why.",
    "importing:import_": """Convert recorded traces of any dialect to rightcall's own format, and say what was lost.

Secrets are redacted with this project's key, so that equal secrets stay equal; `golden` compares redacted traces with
cases redacted by the same key.""",
    "lint:lint": """Check cases, catalog and policy against each other.

Leaves with 0 if nothing is wrong (warnings do not count without --strict), 1 if something is, 2 for a file that cannot
be read.""",
    "golden:golden": """Grade recorded traces against golden traces, by code alone: no judge, no key, no network.

Prints a table, then every failure with its aligned call diff, the veto in words and the reason for every lost point.
Leaves with 0 if all passed, 1 if one failed, 2 for a wrong command or file, 3 if too little could be judged, 5 if there
was nothing to grade.""",
    "selection:selection": """Grade the choice of tools, step by step: by code, free and exact; a judge explains it.

Leaves with 0 if all passed, 1 if one failed, 2 for a wrong command or file, 3 if too little could be judged, 5 if a
judge could not be reached or the budget was spent.""",
    "rubric:rubric": """Score whole traces in four dimensions by a judge, with the severity of the worst misuse.

Code checks the judge against the golden, the catalog and the Safety Matrix. Leaves with 0, or 4 if a CRITICAL waits for
a person, 3 if too little could be judged, 5 if a judge could not be reached or the budget was spent.""",
    "preference:preference": """Compare two or more agents on the same cases: which one did better?

Pairs are joined by case id; policy and goldens decide by code what they can, a judge the rest, in both orders. Leaves
with 0, or 4 if a CRITICAL waits for a person, 3 if too little could be judged, 5 if a judge could not be reached or the
budget was spent.""",
    "interpretation:interpretation": """Score how the agent read what its tools gave back; code looks up every quote.

A strong judge can read a random share of the same readings, to correct the figures. Leaves with 0, or 3 if too little
could be judged, 5 if a judge could not be reached or the budget was spent.""",
    "run:run": """Run every grader of the suite under one run id, and apply its gates.

Leaves with 0 if all gates passed, 1 if one failed, 2 for a wrong command or file, 3 if there is not enough evidence,
4 if a person must act first, 5 if a judge could not be reached, the budget was spent or there was nothing to judge,
130 if it was interrupted: --resume goes on.""",
    "gate:gate": """Apply the suite's gates to a finished run; no judge is called.

What they say about a whole run of the store goes on record. Leaves with 0 if all passed, 1 if one failed, 2 for a wrong
command or file, 3 if there is not enough evidence, 4 if a person must act first, 5 if there is no run.""",
    "diff:diff": """Compare two runs case by case, those that turned first.

Leaves with 0, whatever turned: it is no gate.""",
    "calibrate:calibrate": """Measure a judge against people's answers: is it fit to decide?

What was found is recorded; gates and later runs use the newest. Leaves with 0 if it is fit, 1 if it is not, 2 for a
judge that nobody knows, 3 if the labels are too few to say, 5 if there are none.""",
    "doctor:doctor": """Check settings, files, store and judges, and say what to do.

Leaves with 0 if all is well, 2 for settings that cannot be used, 5 if a judge or the store cannot be reached.""",
    "prompt:app": "Look at the judges' prompts, and check your own: list, show, check, render.",
    "probe:probe": """Attack a judge with built-in probes, and say how often it gives way.

Leaves with 0 if it withstands every class, 1 if it gives way to one, 3 if too little was asked to tell, 5 if it could
not be reached.""",
    "runs:runs": "List what was run, newest first.",
    "show:show": "Show anything on record: a run, a review item, a step, a trace, a case.",
    "review:app": "Answer what waits for people: next, list, show, answer, release, stats, import.",
    "signoff:signoff": """Sign for a CRITICAL item: confirm or dismiss it, by name and with a reason.

Asks for what the flags do not say. Leaves with 0, or 2 if nothing was signed.""",
    "export:app": "Write what is on record as files: verdicts, labels, report, baseline, bundle, preferences.",
    "log:app": "Look into the audit log of all that was asked and concluded: list, gates, show, verify, replay.",
    "schema:schema": "Print the JSON Schema of a file that rightcall reads or writes.",
}
for _target, _help in VERBS.items():
    _module, _, _name = _target.partition(":")
    app.command(f"rightcall.cli.{_target}", name=_module if _name == "app" else _name.rstrip("_"), help=_help)


def main() -> None:
    """Run the command line and leave with its exit code (SPEC §9)."""
    sys.exit(guarded(app))


if __name__ == "__main__":
    main()
