"""What the program does, in the words of the domain."""
