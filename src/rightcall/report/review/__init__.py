"""The review queue in the terminal and as files."""
