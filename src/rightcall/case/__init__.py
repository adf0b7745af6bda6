"""What should have happened: cases, goldens, matchers, policies."""
