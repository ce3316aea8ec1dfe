"""What torch.compile makes of any model's operations, step by step as PyTorch goes."""
