"""HTTP only: parse, call a service, map the outcome to a status."""
