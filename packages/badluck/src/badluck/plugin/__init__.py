"""badluck in pytest: a fixture, schedules that are kept beside the tests, what is told of them."""
