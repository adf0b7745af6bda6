"""Several graders over one suite under one run id, and then its gates."""
