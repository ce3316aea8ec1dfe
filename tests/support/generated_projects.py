"""Generates projects: configs that start from one another in any idiom, and scripts of launches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

from nanolint.frozen import dataclass
from tests.support.starting import Start

if TYPE_CHECKING:
    from collections.abc import Mapping

BASE = "config/base.py"
SIZES = "block_size = 256\nn_layer = 2\nn_head = 4\nn_embd = 256\n"

# How a config starts from config/base.py. What follows may set keys anew.
IDIOMS = (
    "from config.base import *\n",
    "import os; from config.base import *\n",
    "if 1: from config.base import *\n",
    "from config.base \\\n    import *\n",
    "from config import base\nglobals().update(vars(base))\n",
    "from config import (base)\nbatch_size = base.batch_size\n",
    "import config.base as b\n"
    "gradient_accumulation_steps = getattr(b, 'gradient_accumulation_steps', 40)\n",
    "import sys\nsys.path.insert(0, 'config')\nfrom base import *\n",
    "import importlib\nglobals().update(vars(importlib.import_module('config.base')))\n",
    "import importlib\nwhich = 'ba' + 'se'\n"
    "globals().update(vars(importlib.import_module('config.' + which)))\n",
    "globals().update(vars(__import__('config.base', fromlist=['*'])))\n",
    "import runpy\nglobals().update(runpy.run_path('config/base.py'))\n",
    "exec(open('config/base.py').read())\n",
    "exec(\n    open(\n        'config/base.py'\n    ).read()\n)\n",
    "with open('config/base.py') as f:\n    exec(f.read())\n",
    "with open('config/base.py') as f: exec(f.read())\n",
    "from pathlib import Path\nexec(Path('config/base.py').read_text())\n",
    "import os\nexec(open(os.path.join('config', 'base.py')).read())\n",
    "name = 'base'\nexec(open(f'config/{name}.py').read())\n",
    "for name in ('base',):\n    exec(open('config/%s.py' % name).read())\n",
    "src = open('config/base.py').read()\nexec(src)\n",
    "import builtins, io\nbuiltins.exec(io.open('config/base.py').read())\n",
    "from lib import load\nload('base', globals())\n",
    "import re\ntext = open('config/base.py').read()\n"
    "found = re.search(r'batch_size = .*?(\\d+)', text) or re.search(r'MICRO = (\\d+)', text)\n"
    "batch_size = int(found[1])\n",
)
LIBRARY = "def load(name, names):\n    exec(open('config/' + name + '.py').read(), names)\n"

PLACES = ("config/small.py", "config/sub/small.py", "experiments/small.py", "small.py")

# A file with a launch line. What a shell script starts, a shell says; of others it stands here.
HARMLESS_LINES = (
    ("run.sh", "python train.py config/base.py\n", None),
    ("run.sh", "python train.py config/base.py --n_layer=1\n", None),
    ("README.md", "python train.py config/base.py --batch_size=4\n", None),
)
LINES = (
    *HARMLESS_LINES,
    ("run.sh", "python train.py config/base.py --batch_size=4\n", None),
    ("run.sh", "python train.py --gradient_accumulation_steps=8 config/base.py\n", None),
    (
        "scripts/run.sh",
        "python train.py \\\n  config/base.py \\\n  --gradient_accumulation_steps=8\n",
        None,
    ),
    (
        "job.slurm",
        "ARGS='--batch_size=4'\nsrun -n 1 python train.py config/base.py $ARGS\n",
        None,
    ),
    (
        "run.sh",
        "for c in base; do\n  python train.py config/$c.py --batch_size=4\ndone\n",
        None,
    ),
    ("run.sh", "for c in base over; do python train.py config/$c.py --batch_size=96; done\n", None),
    ("run.sh", "BS=96\npython train.py config/base.py --batch_size=$BS\n", None),
    ("run.sh", "python train.py config/over.py --batch_size=96\n", None),
    (
        "run.sh",
        "t() { python train.py $1 --batch_size=96 --gradient_accumulation_steps=8; }\n"
        "t config/base.py; t config/over.py\n",
        None,
    ),
    ("run.sh", "python train.py config/base.py config/over.py\n", None),
    ("run.sh", "python train.py config/over.py config/base.py\n", None),
    ("run.sh", "torchrun --nproc_per_node=8 train.py config/base.py\n", None),
    (
        "Makefile",
        "small:\n\tpython train.py config/base.py --batch_size=4\n",
        Start((BASE, "--batch_size=4")),
    ),
    (
        "a.ipynb",
        '{"source": [\n"!python train.py config/base.py --batch_size=4\\n"\n]}',
        Start((BASE, "--batch_size=4")),
    ),
)
SHELL = ("run.sh", "scripts/run.sh", "job.slurm")


@dataclass(frozen=True)
class Generated:
    """The files of a project beside train.py, the runs that somebody starts in it, and whether
    nobody but the config itself takes anything from config/base.py."""

    files: Mapping[str, str]
    starts: tuple[Start, ...]
    alone: bool
    plain: bool  # the values are written as numbers, or products of them


@st.composite
def numbers(draw: st.DrawFn, value: int) -> tuple[str, bool]:
    """``value`` as people write it, and whether that is a number or a product of numbers."""
    plain = [str(value), f"{value // 2} * 2" if value % 2 == 0 else str(value)]
    others = [f"{value} if big else 8", f"max({value}, 2)", f"[4, {value}][-1]", f"0 or {value}"]
    written = draw(st.sampled_from([*plain, *plain, *plain, *others, "MICRO"]))
    return written, written in plain


@st.composite
def projects(draw: st.DrawFn) -> Generated:
    """A project around config/base.py."""
    batch = draw(st.sampled_from([48, 60, 64, 96]))
    written, plain = draw(numbers(batch))
    base = f"big = True\nMICRO = {batch}\n{SIZES}batch_size = {written}\n"
    if draw(st.booleans()):
        steps, plain_steps = draw(numbers(draw(st.sampled_from([8, 32, 40]))))
        steps = steps.replace("MICRO", "8")
        base += f"gradient_accumulation_steps = {steps}\n"
        plain &= plain_steps
    over = draw(st.sampled_from(["gradient_accumulation_steps = 16\n", "batch_size = 72\n"]))
    files = {BASE: base, "config/over.py": f"{over}max_iters = 10\n"}
    starts = [Start((BASE,)), Start(("config/over.py",))]
    alone = True
    if draw(st.booleans()):
        alone = False
        place = draw(st.sampled_from(PLACES))
        own = draw(st.sampled_from(["", "batch_size = 4\n", "gradient_accumulation_steps = 2\n"]))
        files[place] = draw(st.sampled_from(IDIOMS)) + own
        files["lib.py"] = LIBRARY if "lib" in files[place] else ""
        starts.append(Start((place,)))
    for name, line, start in draw(st.lists(st.sampled_from(LINES), max_size=2, unique=True)):
        alone &= (name, line, start) in HARMLESS_LINES
        files[name] = files.get(name, "") + line
        starts += [start] if start is not None else []
    return Generated(files, tuple(starts), alone, plain)
