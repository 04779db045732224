"""What can be wrong, and where in a graph it is."""
