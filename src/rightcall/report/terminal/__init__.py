"""What the terminal shows, in 80 columns: a report, or one verdict in words (UX §1.3)."""
