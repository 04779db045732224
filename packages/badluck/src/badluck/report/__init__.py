"""What was found, for people and files; and a schedule played again."""
