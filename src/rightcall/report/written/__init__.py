"""Runs and comparisons as files, all of them whole or none."""
