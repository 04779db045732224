"""The server as a model."""
