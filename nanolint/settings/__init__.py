"""The user's settings: their schema, the nearest file, the target GPUs, the torch version."""
