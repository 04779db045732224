"""A schedule that a player chooses step by step."""
