"""The lab: the instructor's pages. Each folder is a screen, with its views and templates."""
