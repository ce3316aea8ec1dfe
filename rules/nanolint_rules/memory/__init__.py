"""Rules about the memory of the target GPU."""
