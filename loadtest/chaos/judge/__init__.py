"""The judge: knows only the buyers' answers and the final books."""
