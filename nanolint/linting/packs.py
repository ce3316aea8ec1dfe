"""Whether any rule pack may be installed, without the import of importlib.metadata.

That takes longer than judging a small config, and nearly always only tells that there is none.
"""

from __future__ import annotations

import os
import sys

METADATA = (".dist-info", ".egg-info")


def may_be_installed(group: str) -> bool:
    """False where no package in plain folders declares entry points in ``group``.

    Whatever else packages may be found in counts as having some.
    """
    usual = {"BuiltinImporter", "FrozenImporter", "PathFinder"}
    for finder in sys.meta_path:
        if hasattr(finder, "find_distributions") and getattr(finder, "__name__", "") not in usual:
            return True
    return any(_declares(place or os.curdir, group.encode()) for place in sys.path)


def _declares(place: str, group: bytes) -> bool:
    try:
        names = os.listdir(place)  # noqa: PTH208 (importing pathlib is not free either)
    except NotADirectoryError:  # an archive
        return True
    except OSError:
        return False
    for name in names:
        if name.endswith(".egg"):
            return True
        if name.endswith(METADATA):
            path = os.path.join(place, name, "entry_points.txt")  # noqa: PTH118
            try:
                with open(path, "rb") as file:  # noqa: PTH123
                    if group in file.read():
                        return True
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError:
                return True
    return False
