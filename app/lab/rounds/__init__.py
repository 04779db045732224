"""The screen "Rounds": start, watch, audit."""
