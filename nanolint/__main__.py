"""``python -m nanolint``."""

import os
import sys

# Python puts the working folder first on the path, and with it whatever modules lie there.
if sys.path[0] == os.getcwd() != os.path.dirname(os.path.dirname(__file__)):  # noqa: PTH109, PTH120
    del sys.path[0]

from nanolint.cli.main import entry_point

if __name__ == "__main__":  # worker processes import this module again
    entry_point()
