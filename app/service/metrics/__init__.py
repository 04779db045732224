"""What Prometheus is told: counted in the shop's workers, read and answered by the lab."""
