"""Looking things up in the record, and asking a recorded question again."""
