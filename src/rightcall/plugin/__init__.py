"""The pytest plugin: an agent's tool calls as assertions, with the aligned call diff as the message."""
