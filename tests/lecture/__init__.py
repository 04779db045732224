"""The lecture of docs/lecture.md: what it plans, and how long that takes."""
