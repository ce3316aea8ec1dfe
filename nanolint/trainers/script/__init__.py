"""Training scripts of any kind: what they do with the values that they are given."""
