"""Real servers for tests and tools: started, frozen, killed, and never left behind."""
