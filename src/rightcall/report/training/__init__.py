"""Training sets from selected pairs, and in words what became of the pairs."""
