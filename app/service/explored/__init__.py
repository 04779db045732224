"""What the explorer runs of the services: they stand above it, so they put themselves into it."""
