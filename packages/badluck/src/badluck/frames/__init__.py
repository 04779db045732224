"""Positions of suspended code, and when two of them are the same."""
