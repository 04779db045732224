"""The screen "Explorer": every order of execution, step by step."""
