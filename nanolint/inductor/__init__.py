"""What one call of nanoGPT's model allocates as torch.compile makes it."""
