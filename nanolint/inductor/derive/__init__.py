"""torch.compile: from a model's operations to memory plans, step by step as PyTorch goes."""
