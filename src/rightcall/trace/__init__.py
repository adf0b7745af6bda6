"""What happened: traces, how they are read, and what must not leave them."""
