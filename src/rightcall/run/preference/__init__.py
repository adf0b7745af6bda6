"""`preference`: traces of two agents paired, compared, and counted."""
