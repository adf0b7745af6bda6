"""A run as a bundle for an auditor: what is written, and what its check says."""
