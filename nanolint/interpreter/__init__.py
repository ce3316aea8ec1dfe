"""Python over pretend tensors: a project's syntax trees are interpreted, and never executed."""
