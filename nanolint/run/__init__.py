"""The training run that a config or a launch line describes: the Run, its settings and origins."""
