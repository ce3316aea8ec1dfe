"""Which parts of a project's model.py and training loop are ones that the replay knows."""
