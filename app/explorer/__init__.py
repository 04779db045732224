"""The explorer: runs the modes' real code in every order of its commands, with faults."""
