"""Every state that actors and servers can get into, and the shortest paths to some of them."""
