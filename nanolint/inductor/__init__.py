"""``torch.compile``: the graphs that Inductor makes of a function, and the memory they take."""
