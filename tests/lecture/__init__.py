"""The lecture of docs/lecture.md: its plan, and how long each part takes."""
