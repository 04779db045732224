"""Metrics for Prometheus: counted in the shop's workers, served by the lab."""
