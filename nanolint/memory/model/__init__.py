"""Models, written as their own model.py writes them, on pretend tensors."""
