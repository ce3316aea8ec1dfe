"""PyTorch as the interpreter knows it: its names, its modules, and attributes of its tensors."""
