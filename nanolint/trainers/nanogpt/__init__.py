"""nanoGPT and its forks: a train.py that loads a configurator, and configs for it."""
