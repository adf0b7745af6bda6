"""Runs as a program gets them: typed results, figures, data frames."""
