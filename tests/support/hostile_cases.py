"""What may lie where a config is looked for: how it is planted, and what nanolint says of it.

Each case is judged beside a file with a known finding, which must still be found. The table is
also what scripts/measure_hostile.py measures.
"""

from __future__ import annotations

import os
import pickle
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.support.planting import (
    Bomb,
    billion,
    both,
    folder,
    hole,
    link,
    nested_lists,
    pipe,
    raw,
    text,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

GOOD = "good.py"
FINDING = f"{GOOD}:1:1: NL303"
GOOD_TEXT = "n_embd = 384\nn_head = 5\nbatch_size = 2\n"

CLEAN, FOUND, FAILED = 0, 1, 2


@dataclass(frozen=True)
class Case:
    """``plant`` writes it into an empty folder. ``line`` stands in exactly one line of the output.

    ``arguments`` name the files; ``status`` counts the finding in GOOD in, unless ``alone``: then
    GOOD is not given. ``seconds`` are those of the processor that it may take.
    """

    name: str
    plant: Callable[[Path], object]
    line: str | None
    status: int = FAILED
    arguments: tuple[str, ...] = ("x.py",)
    obey_modes: bool = False
    stdin: str = os.devnull
    alone: bool = False
    seconds: int = 10


NOISE = random.Random(7).randbytes(1 << 16)
CONFIG = "batch_size = 4\nblock_size = 256\nn_layer = 2\ncompile = False\n"
FOREIGN = "import torch\nfor epoch in range(10):\n    print(torch.rand(3))\n"


DATA = CONFIG + "dataset = 'd'\n"
DEEP = "x = " + "(" * 5000 + ")" * 5000


def meta(plant_it: Callable[[Path], object]) -> Callable[[Path], object]:
    """A config with a dataset whose meta.pkl is planted."""
    return both(text(DATA), folder("data/d"), plant_it)


META = "data/d/meta.pkl"
TOO_LARGE = "x.py:5:1: NL004[info] memory not checked, because of {}: too large to evaluate"
BEYOND = "x.py:5:1: NL004[info] memory not checked, because of {} is beyond every GPU"
# What is said of CONFIG where nothing hostile is in the way.
JUDGED = ".py:1:1: NL312[info] "
NOT_JUDGED = "memory not checked"  # by other sizes than those of the project

READING = [
    Case("64 KiB of noise", raw(NOISE), "x.py: it contains NUL bytes, so it is not a text file"),
    Case("NUL bytes", raw(b"batch_size = 4\n\0\n"), "x.py: it contains NUL bytes"),
    Case("invalid UTF-8", raw(b"# \xff\xfe\nbatch_size = 4\n"), "x.py: it is not valid utf-8 at"),
    Case(
        "a latin-1 cookie",
        raw(b"# coding: latin-1\nn_head = 5  # gr\xf6\xdfer\nn_embd = 384\n"),
        "x.py:3:1: NL303[error]",
        FOUND,
    ),
    Case(
        "a UTF-16 cookie",
        text("# coding: utf-16\nbatch_size = 4\n"),
        "x.py: it declares the encoding utf-16, which nanolint cannot read",
    ),
    Case(
        "UTF-16", raw(CONFIG.encode("utf-16")), "x.py: UTF-16 is not an encoding that Python reads"
    ),
    Case(
        "a cookie that compresses",
        text("# coding: zlib\nbatch_size = 4\n"),
        "x.py: it declares the encoding zlib, which nanolint cannot read",
    ),
    Case("20 MB", text("batch_size = 4\n" * 1_400_000), "x.py: larger than 8 MiB"),
    Case("a gigabyte", hole(1 << 30, "x.py"), "x.py: larger than 8 MiB"),
    Case("a folder called x.py", folder(), None, FOUND),
    Case("a link to itself", link("x.py"), "x.py: too many levels of symbolic links"),
    Case("a link to nothing", link("gone"), "x.py: no such file or directory"),
    Case(
        "a folder that links to itself", both(folder("x"), link("..", "x/y")), None, FOUND, ("x",)
    ),
    Case("a named pipe", pipe(), "x.py: not a file but a named pipe"),
    Case("a named pipe in a folder", both(folder("x"), pipe("x/y.py")), None, FOUND, ("x",)),
    Case("a device", link("/dev/zero"), "x.py: not a file but a device"),
    Case(
        "endless standard input",
        folder("x"),
        "<stdin>: larger than 8 MiB",
        arguments=("-",),
        stdin="/dev/zero",
        alone=True,
    ),
    Case("a file that is not there", folder("x"), "x.py: no such file or directory"),
    Case(
        "a file that may not be read",
        both(text(CONFIG), lambda folder: (folder / "x.py").chmod(0)),
        "x.py: permission denied",
        obey_modes=True,
    ),
    Case(
        "a folder that may not be searched",
        both(text(CONFIG, "x/y.py"), lambda folder: (folder / "x").chmod(0)),
        "x: permission denied",
        arguments=("x",),
        obey_modes=True,
    ),
    Case(
        "a name that is not Unicode",
        lambda folder: (folder / os.fsdecode(b"x\xff\n.py")).write_text(CONFIG),
        "x\\udcff␊.py:1:1: NL005",
        FOUND,
        (".",),
    ),
    Case(
        "folders 300 levels deep",
        text(CONFIG, "x/" * 300 + "y.py"),
        JUDGED,
        FOUND,
        ("x",),
    ),
]

TEXTS = [
    Case("100,000 assignments", text("a = 1\n" * 100_000), "it has more than 10,000 statements"),
    Case("5,000 parentheses", text(DEEP), "x.py: not checked: its code is nested too deeply"),
    Case("5,000 open brackets", text("x = " + "[" * 5000), "its code is nested too deeply"),
    Case(
        "f-strings in f-strings",
        text("x = " + "f'{" * 3000 + "1" + "}'" * 3000),
        "its code is nested too deeply",
    ),
    Case(
        "a sum of 100,000 terms",
        text("x = " + "+".join("1" * 100_000)),
        "its code is nested too deeply",
    ),
    Case("9**9**9", text(CONFIG + "eval_iters = 9**9**9\n"), TOO_LARGE.format("eval_iters"), FOUND),
    Case(
        "'a' * 10**12",
        text(CONFIG + "dataset = 'a' * 10**12\n"),
        TOO_LARGE.format("vocab_size: depends on dataset, which is not known"),
        FOUND,
    ),
    Case(
        "[0] * 10**10",
        text(CONFIG + "eval_iters = len([0] * 10**10)\n"),
        TOO_LARGE.format("eval_iters"),
        FOUND,
    ),
    Case(
        "a number of 5,000 digits",
        text(CONFIG + "eval_iters = " + "9" * 5000 + "\n"),
        TOO_LARGE.format("eval_iters"),
        FOUND,
    ),
    Case(
        "a million layers",
        text(CONFIG.replace("n_layer = 2", "bias = True") + "n_layer = 10**6\n"),
        BEYOND.format("n_layer: 1000000"),
        FOUND,
    ),
    Case(
        "a context of 2**60",
        text(CONFIG.replace("block_size = 256", "bias = True") + "block_size = 2**60\n"),
        BEYOND.format("block_size: 1152921504606846976"),
        FOUND,
    ),
    Case(
        "an effective batch with 3,024 divisors",
        text("batch_size = 720720\ngradient_accumulation_steps = 720720\nn_layer = 2\n"),
        "batch_size = 25, gradient_accumulation_steps = 20777492736 fits",
        FOUND,
    ),
    Case(
        "a hundred layers, each 8 numbers wide",
        text(
            "batch_size = 720720\ngradient_accumulation_steps = 720720\nblock_size = 1\n"
            "n_layer = 100\nn_head = 1\nn_embd = 8\n"
        ),
        "x.py:1:1: NL102[error] does not fit 12 GB card: needs 270.6 of 11.2 GiB",
        FOUND,
        seconds=30,  # four runs are read, each layer of them
    ),
    Case("1e999", text(CONFIG + "max_iters = 1e999\n"), "x.py:5:1: NL302[warning]", FOUND),
    Case(
        "names in a circle",
        text("block_size = 64\n" + "a = b\nb = a\n" * 2000 + "batch_size = a\n"),
        "x.py:4002:1: NL004[info] memory not checked, because of batch_size: reads b",
        FOUND,
    ),
    Case(
        "every key is text",
        text("batch_size = 'x'\nblock_size = []\nn_layer = {}\nn_head = None\n"),
        "must be an integer, is 'x'",
        FOUND,
    ),
    Case(
        "lists that double 5,000 times",
        text(CONFIG + "x = [0]\n" + "x = [x, x]\n" * 5000),
        JUDGED,
        FOUND,
    ),
    Case(
        "4,000 suppressions",
        text(CONFIG + "learning_rate = 1  # nanolint: ignore[NL101]\n" * 4000),
        "x.py:4004:39: NL002",
        FOUND,
    ),
]

AROUND = [
    Case(
        "configs that import each other",
        both(text("from y import *\n" + CONFIG), text("from x import *\nn_layer = 4\n", "y.py")),
        "memory not checked, because of eval_only, gradient_accumulation_steps, n_",
        FOUND,
    ),
    Case(
        "60 configs that import one another",
        lambda folder: [
            (folder / f"x{i}.py").write_text(
                CONFIG + "".join(f"from x{j} import *\n" for j in range(60))
            )
            for i in range(60)
        ],
        "memory not checked, because of eval_only, gradient_accumulation_steps, n_",
        FOUND,
        ("x0.py",),
    ),
    Case(
        "a meta.pkl that runs a command",
        meta(raw(pickle.dumps(Bomb()), META)),
        JUDGED,
        FOUND,
    ),
    Case("a meta.pkl of 10**10 items", meta(raw(billion(), META)), JUDGED, FOUND),
    Case(
        "a meta.pkl a million deep",
        meta(raw(nested_lists(1_000_000), META)),
        JUDGED,
        FOUND,
    ),
    Case("a meta.pkl of a gigabyte", meta(hole(1 << 30, META)), JUDGED, FOUND),
    Case("a meta.pkl that is a pipe", meta(pipe(META)), JUDGED, FOUND),
    Case(
        "a dataset that leads to /dev/zero",
        text(CONFIG + "dataset = '../../../../../../dev/zero'\n"),
        JUDGED,
        FOUND,
    ),
    Case("a dataset with a NUL", text(CONFIG + "dataset = 'a\\0b'\n"), JUDGED, FOUND),
    Case(
        "a train.py that is not nanoGPT's",
        both(text(CONFIG), text(FOREIGN, "train.py")),
        f"train.py: a trainer of its own: it loads no configurator; {NOT_JUDGED}",
        FOUND,
    ),
    Case(
        "a train.py of noise",
        both(text(CONFIG), raw(NOISE, "train.py")),
        f"train.py: not a text file; {NOT_JUDGED}",
        FOUND,
    ),
    Case(
        "a train.py of 20 MB",
        both(text(CONFIG), text("a = 1\n" * 3_400_000, "train.py")),
        f"train.py: larger than 1 MiB; {NOT_JUDGED}",
        FOUND,
    ),
    Case(
        "a train.py of 5,000 parentheses",
        both(text(CONFIG), text(DEEP, "train.py")),
        f"train.py: its code is nested too deeply; {NOT_JUDGED}",
        FOUND,
    ),
    Case("a train.py that is a pipe", both(text(CONFIG), pipe("train.py")), JUDGED, FOUND),
    Case(
        "a train.py that links to itself",
        both(text(CONFIG), link("train.py", "train.py")),
        f"train.py: too many levels of symbolic links; {NOT_JUDGED}",
        FOUND,
    ),
    Case(
        "a .gitignore of noise",
        both(text(CONFIG), raw(NOISE, ".gitignore")),
        JUDGED,
        FOUND,
        (".",),
    ),
    Case(
        "a requirements.txt of noise",
        both(text(CONFIG), raw(NOISE, "requirements.txt")),
        JUDGED,
        FOUND,
    ),
]

IN_X = ("x/y.py",)
SETTINGS = [
    Case(
        name,
        both(text(CONFIG, "x/y.py"), plant),
        line,
        status,
        IN_X,
    )
    for name, plant, line, status in [
        (
            "settings of noise",
            raw(NOISE, "x/nanolint.toml"),
            "it is not UTF-8, as TOML has to be",
            FAILED,
        ),
        (
            "settings of another type",
            text("gpu = 7\n", "x/nanolint.toml"),
            "gpu must be a list, not 7",
            FAILED,
        ),
        (
            "settings 100,000 levels deep",
            text("gpu = " + "[" * 100_000, "x/nanolint.toml"),
            "nested too deeply",
            FAILED,
        ),
        (
            "settings of 20 MB",
            text("# x\n" * 5_000_000, "x/nanolint.toml"),
            ": larger than 4 MiB",
            FAILED,
        ),
        ("settings that are a pipe", pipe("x/nanolint.toml"), JUDGED, FOUND),
        (
            "a pyproject.toml of another shape",
            text("tool = 3\n", "x/pyproject.toml"),
            JUDGED,
            FOUND,
        ),
    ]
]

CASES = [*READING, *TEXTS, *AROUND, *SETTINGS]
