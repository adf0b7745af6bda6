"""The view of a report in the formats of other programs, and where each is written."""
