"""The judge: knows what buyers were told and what the books say in the end, and nothing else."""
