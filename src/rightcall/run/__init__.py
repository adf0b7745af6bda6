"""Orchestration: joining, streaming, processes, in input order and bounded memory."""
