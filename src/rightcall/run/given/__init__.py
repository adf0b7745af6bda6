"""Judged runs over values that a program holds."""
