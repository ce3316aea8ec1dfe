"""Rules about runs that stop: what PyTorch or Python refuses, found by the interpreter."""
