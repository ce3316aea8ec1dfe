"""Starts runs as train.py and configurator.py do, to see with which batch they would train.

Nothing here is nanolint's: the configs of a generated project are really executed, in a process of
their own, in nanoGPT's way.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from nanolint.frozen import dataclass
from tests.support import project_tree

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Start:
    """A launch: what follows ``train.py`` on the line, and how many processes there are."""

    arguments: tuple[str, ...]
    world_size: int = 1


# What train.py holds down to its configurator line, and what it does with the batch below.
PROGRAM = """\
import ast, json, os, sys

job = json.load(sys.stdin)
os.chdir(job["root"])
sys.path.insert(0, job["root"])


class torch:
    class cuda:
        is_available = is_bf16_supported = staticmethod(lambda: True)


def configured(arguments):
    names = {"__name__": "__main__", "__file__": "train.py", "torch": torch}
    exec(job["settings"], names)
    for argument in arguments:
        if "=" not in argument:
            with open(argument) as file:
                exec(file.read(), names)
        else:
            key, text = argument.split("=")
            key = key[2:]
            try:
                value = ast.literal_eval(text)
            except (SyntaxError, ValueError):
                value = text
            assert type(value) is type(names[key])
            names[key] = value
    return names


def trained(arguments, world_size):
    for name in [name for name in sys.modules if name.split(".")[0] in job["packages"]]:
        del sys.modules[name]
    try:
        names = configured(arguments)
        steps = names["gradient_accumulation_steps"]
        assert steps % world_size == 0
        if names["eval_only"]:
            return names["batch_size"] * names["eval_iters"]
        return names["batch_size"] * (steps // world_size) * world_size
    except Exception as error:
        return type(error).__name__


json.dump([trained(*start) for start in job["starts"]], sys.stdout)
"""


# Stands for python and every launcher on the path of a script: notes how it was called.
NOTE = """\
#!/bin/sh
for word in "$0" "$@"; do printf '%s\\n' "$word" >> "$CALLS"; done
printf '\\n' >> "$CALLS"
"""


def launched(root: Path, scripts: Sequence[str]) -> list[Start]:
    """What the shell scripts start, found by running them with programs that do nothing."""
    found: list[Start] = []
    for script in scripts:
        with TemporaryDirectory() as folder:
            for program in ("python", "torchrun", "srun"):
                stub = Path(folder) / program
                stub.write_text(NOTE)
                stub.chmod(0o755)
            calls = Path(folder) / "calls"
            calls.touch()
            environment = {"PATH": f"{folder}:/usr/bin:/bin", "CALLS": str(calls)}
            subprocess.run(["bash", script], cwd=root, env=environment, check=True)
            found += (_start(call.split("\n")) for call in calls.read_text().split("\n\n") if call)
    return found


def _start(words: list[str]) -> Start:
    script = next(at for at, word in enumerate(words) if word.endswith("train.py"))
    counts = [word.split("=")[1] for word in words[:script] if "nproc_per_node=" in word]
    return Start(tuple(words[script + 1 :]), int(counts[0]) if counts else 1)


def batches(root: Path, starts: Sequence[Start]) -> list[int | str]:
    """The sequences of an optimizer step of each run, or the exception that it ends with."""
    job = {
        "root": str(root),
        "settings": project_tree.SETTINGS,
        "packages": sorted(path.stem for path in root.iterdir()),
        "starts": [(each.arguments, each.world_size) for each in starts],
    }
    command = [sys.executable, "-I", "-S", "-B", "-c", PROGRAM]
    done = subprocess.run(command, input=json.dumps(job), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found: list[int | str] = json.loads(done.stdout)
    return found
