"""The page /metrics of the lab."""
