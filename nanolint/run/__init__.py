"""The training run that a config describes: nanoGPT's keys, the project around the file, the Run."""
