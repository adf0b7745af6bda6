"""Judges held against people: labels, figures, fitness, and calibrations as runs use them (SPEC §8)."""
