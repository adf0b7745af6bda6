"""Bundles: a run as an auditor gets it, written from the record and checked without it."""
