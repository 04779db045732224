"""Where suspended code stands, and when two such places are the same."""
