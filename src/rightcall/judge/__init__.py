"""LLM judges as data: prompts, questions, the strict reading of replies. No network, no clock, no files but its own."""
