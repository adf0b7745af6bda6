"""Verdicts made readable: terminal, JSON, CSV, Markdown."""
