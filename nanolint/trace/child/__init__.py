"""What runs in the user's interpreter, on the card that only counts: standard library and torch.

It is started by ``start.py``, which gives the package a name of its own, so that no module of the
user's is hidden. It speaks to nanolint in lines of JSON, see ``nanolint/trace/traced.py``.
"""
