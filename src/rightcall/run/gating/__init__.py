"""Gates and comparisons of finished runs (SPEC §9). No judge is called."""
