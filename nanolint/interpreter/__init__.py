"""Reading a model: its Python syntax tree interpreted over pretend tensors, without running it."""
