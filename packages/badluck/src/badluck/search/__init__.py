"""Every state that actors and servers can get into, and the shortest ways to some of them."""
