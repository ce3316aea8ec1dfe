"""The Neovim of this machine, with the recipe that the documentation gives for it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.support.sitting import recipe

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Neovim:
    """A program and its version, such as (0, 7)."""

    program: str
    version: tuple[int, int]

    def configure(self, home: Path) -> None:
        """Write init.lua for a user whose files are in ``home``."""
        init = home / "nvim" / "init.lua"
        init.parent.mkdir(parents=True)
        name = "neovim-0.11" if self.version >= (0, 11) else "neovim-0.7"
        init.write_text(recipe(name), encoding="utf-8")


def find_neovim() -> Neovim | None:
    """The program that NANOLINT_NVIM names, else the one on the PATH."""
    program = os.environ.get("NANOLINT_NVIM") or shutil.which("nvim")
    if program is None:
        return None
    run = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    version = re.match(r"NVIM v(\d+)\.(\d+)", run.stdout)
    assert version is not None, run.stdout
    return Neovim(program, (int(version[1]), int(version[2])))
