"""Services: the program's actions, in the words of the domain."""
