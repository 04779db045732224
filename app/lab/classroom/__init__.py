"""The screen "Classroom": a sale to the people in the room."""
