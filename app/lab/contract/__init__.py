"""The lab's half of the contract: a table for each of its parts."""
