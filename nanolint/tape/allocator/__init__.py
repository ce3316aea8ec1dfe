"""PyTorch's CUDA caching allocator: what it reserves for a tape."""
