"""What is known of PyTorch: its names, its modules, and attributes of its tensors."""
