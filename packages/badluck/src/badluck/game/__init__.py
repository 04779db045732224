"""A schedule that somebody chooses step by step."""
