"""What keeps a shop running: processes, supervision, readiness, durability checks, secrets."""
