"""A whole training script, interpreted: data, model, optimizer, evaluation, the loop."""
