"""Functions of a user's project explored unchanged, from its own tests."""
