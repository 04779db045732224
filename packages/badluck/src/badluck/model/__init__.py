"""The model of a server."""
