"""Gates: rules on the figures of a run, and what they come to. Pure: figures in, decisions out."""
