"""train.py's loop: parameters, batches, gradients and the optimizer, step by step."""
