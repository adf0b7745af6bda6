"""Questions to the store: whether they are answered by looking up, and not by looking through."""

from store_making import RUN, verdict

from rightcall.store.reading import current_verdicts
from rightcall.store.tables import verdicts


def test_the_current_verdicts_of_a_run_are_read_without_going_through_the_run_for_each(sqlite_store):
    sqlite_store.write([verdict(number) for number in range(20)], ["result"])
    query = current_verdicts(10**6, run_id=RUN, grader="rubric").order_by(verdicts.c.seq).limit(500)

    def plan(connection):
        text = str(query.compile(connection, compile_kwargs={"literal_binds": True}))
        return [row[-1] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {text}")]

    steps = sqlite_store.database.read(plan)
    assert any(step.startswith("SEARCH later USING INDEX verdicts_unit (run_id=? AND unit=?") for step in steps), steps
