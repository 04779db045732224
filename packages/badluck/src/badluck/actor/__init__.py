"""The code that is explored, run step by step: what it is given in place of the system."""
