"""A report as one HTML file: page, charts, diffs, and the room that they may use."""
