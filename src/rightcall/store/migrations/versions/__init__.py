"""One module for each revision of the schema. A published one is never edited."""
