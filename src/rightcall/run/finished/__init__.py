"""Results that are not on record, or not yet: from a file, and from a run that has just ended."""
