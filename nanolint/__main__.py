"""``python -m nanolint``."""

from nanolint.cli.main import entry_point

if __name__ == "__main__":  # worker processes import this module again
    entry_point()
