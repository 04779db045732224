"""Rules, and where in a graph they are broken."""
