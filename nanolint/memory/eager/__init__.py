"""What one call of nanoGPT's model allocates without torch.compile."""
