"""Rules, and the places in a graph at which they are broken."""
