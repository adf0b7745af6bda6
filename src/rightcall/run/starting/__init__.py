"""`init`: a first suite from somebody's own traces."""
