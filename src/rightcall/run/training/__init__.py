"""Pairs that may be used for training (SPEC §7.3, §8)."""
