"""A finished run as data: its rows, facts and figures, from the record; what everything after a run reads."""
