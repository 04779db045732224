"""The SQL modes' real code in every order of its statements, on a real PostgreSQL."""
