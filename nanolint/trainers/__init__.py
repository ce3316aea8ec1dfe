"""The trainers that nanolint knows: how each reads a config, and the run that it makes of it."""
