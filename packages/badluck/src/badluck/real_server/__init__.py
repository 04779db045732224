"""Real servers with a simulated clock, for schedules."""
