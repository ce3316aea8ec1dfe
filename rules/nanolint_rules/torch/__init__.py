"""Rules about PyTorch calls in training scripts."""
