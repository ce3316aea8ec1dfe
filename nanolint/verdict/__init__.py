"""How a run fares on a machine, and what would fit instead."""
