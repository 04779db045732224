"""Operation of a shop: processes, supervision, readiness, durability checks, secrets."""
