"""badluck in pytest: a fixture, schedules saved next to the tests, and the report on them."""
