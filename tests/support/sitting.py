"""What a sitting at an editor is about: a config, a mistake in it, the fix; and the way to it."""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING

from tests.support.model_text import FUSED_ADAMW, GPT
from tests.support.project_tree import train_script, write_project
from tests.support.repository import ROOT

if TYPE_CHECKING:
    from pathlib import Path

EDITORS_PAGE = ROOT / "docs" / "editors.md"

# Fits the RTX 3060 with a micro-batch of 8, and runs it out of memory with 16.
SETTINGS = 'gpu = "rtx-3060"\n'
CONFIG = """\
# one optimizer step is batch_size times accumulation
batch_size = 8  # sequences per forward pass
gradient_accumulation_steps = 64
block_size = 1024
"""
TOO_LARGE = CONFIG.replace("batch_size = 8", "batch_size = 16")
FIXED = CONFIG.replace("steps = 64", "steps = 128")
BATCH_LINE = 1  # counted from 0

# Its configs, which inherit the width, fit no card.
LARGER_MODEL = train_script().replace("n_embd = 768", "n_embd = 6144")


def project(root: Path) -> Path:
    """A project with the config in ``config.py``."""
    return write_project(root, {"nanolint.toml": SETTINGS, "config.py": CONFIG})


def model_project(root: Path) -> Path:
    """A project whose model is its own, in ``model.py``."""
    model = GPT + FUSED_ADAMW
    return write_project(root, {"nanolint.toml": SETTINGS, "config.py": CONFIG, "model.py": model})


def recipe(name: str) -> str:
    """The code block that docs/editors.md gives under this name."""
    page = EDITORS_PAGE.read_text(encoding="utf-8")
    block = re.search(rf"<!-- recipe: {re.escape(name)} -->\n```\w+\n(.*?)```", page, re.DOTALL)
    assert block is not None, name
    return block[1]


def environment(home: Path) -> dict[str, str]:
    """A user's machine: ``home`` for every editor's files, this Python's nanolint on the PATH."""
    program = home / "bin" / "nanolint"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m nanolint "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    names = ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")
    kept = {key: value for key, value in os.environ.items() if key != "NANOLINT_GPU"}
    return {
        **kept,
        **dict.fromkeys(names, str(home)),
        "PATH": os.pathsep.join([str(program.parent), os.environ.get("PATH", os.defpath)]),
    }
