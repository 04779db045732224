"""Functions of anybody's project explored as they are, from its own tests."""
