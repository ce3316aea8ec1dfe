"""The script around a model, read as the model is: data, optimizers, evaluation, the loop."""
