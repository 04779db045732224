"""Findings for people and files, and the replay of schedules."""
