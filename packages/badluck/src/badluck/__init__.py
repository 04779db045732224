"""Every order in which redis-py code can run, with faults, and the shortest that breaks it."""
