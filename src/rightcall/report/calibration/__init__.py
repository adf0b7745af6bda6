"""A calibration as people read it: one view, which terminal, Markdown and HTML are written from."""
