"""``python -m nanolint``."""

import os
import sys
from contextlib import suppress

# Python puts the working folder first on the path, and with it whatever modules lie there.
with suppress(OSError):  # there may be no such folder any more
    home = os.path.dirname(os.path.dirname(__file__))  # noqa: PTH120
    if sys.path[0] == os.getcwd() != home:  # noqa: PTH109
        del sys.path[0]

from nanolint.cli.main import entry_point

if __name__ == "__main__":  # worker processes import this module again
    entry_point()
