"""`interpretation`: what the agent made of each result, by one judge, a panel, or a light and a strong one."""
