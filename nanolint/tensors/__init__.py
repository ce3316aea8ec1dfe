"""Pretend tensors: shape, strides, element type and who holds them, without a single number."""
