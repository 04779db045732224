"""The customers' pages and JSON API."""
