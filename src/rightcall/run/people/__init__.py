"""People at work: what they are shown, what they answer and sign, their labels as files."""
