"""Clients of the servers: the store, alone or as a cluster, redlock's masters, ZooKeeper."""
