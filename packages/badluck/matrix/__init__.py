"""Well-known libraries on redis-py, each compared with the promises of its own docs."""
