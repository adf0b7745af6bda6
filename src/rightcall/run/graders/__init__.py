"""The judged graders of single traces and steps, and how a judged run is set up."""
