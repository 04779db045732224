"""A user's own file, explored in a process of its own."""
