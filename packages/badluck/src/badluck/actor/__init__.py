"""The explored code, run step by step, with replacements for what it would ask the system."""
