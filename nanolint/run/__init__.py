"""The training run that a config describes: its keys, the project around it, the Run."""
