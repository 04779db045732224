"""Well-known libraries on redis-py, each held to what it promises in its own docs."""
