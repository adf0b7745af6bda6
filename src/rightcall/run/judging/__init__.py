"""Questions put to judges, whatever the grader: ask, record, conclude, count, stop and go on (SPEC §7)."""
