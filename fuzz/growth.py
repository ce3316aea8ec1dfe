"""Slow inputs: texts in which something comes n times, then twice as often, up to the bounds.

    python fuzz/growth.py [SECONDS] [SEED]

Each text is judged, reported, fixed (unsafe fixes too) and silenced with ``--add-ignore``, and the
processor time of the longest of these is compared: what comes four times as often may not take ten
times as long, and no text more than docs/robustness.md promises. The kinds of line,
and what is repeated inside a line, are drawn at random, alone and mixed. Ends with status 1 if
anything was slow.
"""

from __future__ import annotations

import random
import signal
import sys
import time
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, NoReturn

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "rules")]

from nanolint.cli.main import main as nanolint  # noqa: E402
from tests.support.guard import SECONDS  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# Four times the text may take so many times as long. What is quadratic takes sixteen times; a text
# of more than 2,000 lines is read by the slower of two readers.
MOST_GROWTH = 10.0
LEAST_SECONDS = 0.2  # a shorter time says nothing about growth
FEWEST, MOST_CHARACTERS = 500, 1 << 20

FILE = Path(mkdtemp()) / "x.py"

# What is done to each text; the file is written anew before.
COMMANDS = (
    ("--output-format=full",),
    ("--output-format=sarif",),
    ("--fix", "--unsafe-fixes", "--quiet"),
    ("--add-ignore", "--quiet"),
)
COMMON = ("--gpu=rtx-3060-12gb", "--isolated")

# What a config may be made of; {i} is a number that differs from line to line.
LINES = (
    "batch_size = 16",
    "batch_size = {i}",
    "batch_size = 16  # was 16 * 32 = 512",
    "batch_size = 2 * 8",
    "gradient_accumulation_steps = 32",
    "gradient_accumulation_steps = 5 * 8",
    "block_size = 1024",
    "n_embd = 385",
    "learning_rate = 6e-4",
    "learnin_rate = {i}",
    "dtype = 'bf16'",
    "key_{i} = {i}",
    "key_{i} = key_{j} + 1",
    "key_{i} = batch_size * block_size",
    "text_{i} = f'{{batch_size}}-{{key_{j}}}'",
    "a = b = c = batch_size = {i}",
    "batch_size, block_size = {i}, 64",
    "batch_size += 1",
    "max_iters = 1e3",
    "if True:\n    batch_size = {i}",
    "if unknown:\n    batch_size = {i}",
    "if unknown: batch_size = {i}\nelse: n_layer = 2",
    "for x in range(3):\n    n_head = x",
    "def f_{i}():\n    return batch_size",
    "import torch",
    "from torch import nn as nn_{i}",
    "from nowhere import *",
    "globals()['x_{i}'] = 1",
    "del key_{j}",
    "scaler = torch.cuda.amp.GradScaler()",
    "with torch.cuda.amp.autocast():\n    pass",
    "torch.backends.cuda.matmul.allow_tf32 = True",
    "os.environ['PYTORCH_CUDA_ALLOC_CONF'] = 'x'",
    "logits, loss = model(X, Y)",
    "loss.backward()",
    "x = torch.load('ckpt_{i}.pt')",
    "# 16 * 32 = 512",
    "# 16 batch size * 32 gradaccum = 512",
    "# effective batch: 16 x 32 = {i}, tokens 16 * 1024 * 32 = {i}",
    "# nanolint: ignore",
    "# nanolint: ignore[NL102]",
    "# nanolint: ignore[NL102, NL{i}]",
    "batch_size = 16  # nanolint: ignore[NL{i}]",
    "# nanolint: ignore-file[NL102]",
    "# nanolint: ignore[",
    "'''{i}\n{j}'''",
    "",
    "\f",
    "x = (\n    {i},\n    # 16 * 32 = 512\n)",
)

# What a line may hold many of: what stands before, each, what stands between, and behind.
INSIDE = (
    ("# nanolint: ignore[", "NL102", ",", "]"),
    ("# nanolint: ignore[", "NL{i}", ",", "]"),
    ("# nanolint: ignore[", "none-{i}", " ", "]"),
    ("batch_size = 16  # nanolint: ignore[", "NL102", ",", "]"),
    ("# ", "16 * 32 = 512", "; ", ""),
    ("# ", "16", " * ", " = 512"),
    ("# ", "16 a", " * ", ""),
    ("# ", "nanolint: ignore ", "# ", ""),
    ("# ", "[", "", ""),
    ("batch_size = ", "1", " + ", ""),
    ("batch_size = ", "1", " * ", ""),
    ("batch_size = (", "1", "\n * ", ")"),
    ("batch_size = 1  # ", " ", "", "="),
    ("x = [", "batch_size", ", ", "]"),
    ("x = [", "{i}", ", ", "]"),
    ("x = {{", "'{i}': batch_size", ", ", "}}"),
    ("x = f'", "{{batch_size}}", "", "'"),
    ("x = '", "a", "", "'"),
    ("x = ", "'a'", " ", ""),
    ("x = ", "batch_size", " or ", ""),
    ("x = ", "batch_size", " < ", ""),
    ("", "x_{i}", " = ", " = batch_size"),
    ("", "batch_size", " = ", " = 16"),
    ("", "batch_size", ", ", " = x"),
    ("batch_size = ", "-", "", "1"),
    ("batch_size = ", "not ", "", "1"),
    ("batch_size = 1", "0", "", ""),
    ("batch_size = 1", "_0", "", ""),
    ("batch_size = 16", "; batch_size = 16", "", ""),
    ("batch_size = 16 \\\n", "\\\n", "", ""),
    ("f(", "k_{i}=batch_size", ", ", ")"),
    ("torch", ".cuda", "", ".amp"),
    ("import ", "m_{i}", ", ", ""),
    ("from m import (", "n_{i}", ", ", ")"),
    ("print(", "batch_size", ", ", ")"),
    ("del ", "k_{i}", ", ", ""),
    ("global ", "k_{i}", ", ", ""),
    ("x = '''", "# 16 * 32 = 512\n", "", "'''"),
    ("if x: pass\n", "elif batch_size: pass\n", "", ""),
    ("@f\n", "@f\n", "", "def f(): pass"),
)
HEADS = ("", "batch_size = 16\ngradient_accumulation_steps = 32\n", "import torch\n")


class TooSlow(BaseException):
    """The processor time that is promised is over."""


@dataclass(frozen=True)
class Shape:
    """A text with something n times in it."""

    name: str
    text: Callable[[int], str]


def lines_of(head: str, kinds: Sequence[str]) -> Shape:
    """Lines of these kinds in turns."""

    def text(count: int) -> str:
        each = (kinds[i % len(kinds)].format(i=i, j=i // 2) for i in range(count))
        return head + "\n".join(each) + "\n"

    return Shape(f"{head!r} + lines {list(kinds)!r}", text)


def line_of(head: str, part: tuple[str, str, str, str], tail: str) -> Shape:
    """One line with many parts."""
    before, each, between, behind = part

    def text(count: int) -> str:
        middle = between.join(each.format(i=i) for i in range(count))
        return f"{head}{before.format()}{middle}{behind.format()}\n{tail}"

    return Shape(f"{head!r} + line {part!r} + {tail!r}", text)


def alone() -> list[Shape]:
    """Every kind of line, and of what is inside one, by itself."""
    heads = HEADS[:2]
    return [
        *(lines_of(head, (kind,)) for kind in LINES for head in heads),
        *(line_of(head, part, "") for part in INSIDE for head in heads),
    ]


def drawn(draw: random.Random) -> Shape:
    """A shape of several kinds."""
    head = draw.choice(HEADS)
    if draw.random() < 0.7:
        return lines_of(head, draw.sample(LINES, draw.randint(2, 4)))
    return line_of(head, draw.choice(INSIDE), draw.choice(LINES).format(i=1, j=0) + "\n")


def work(text: str) -> float:
    """Processor seconds of the longest command on a text; raises TooSlow past SECONDS."""
    return max(cost(text, command) for command in COMMANDS)


def cost(text: str, command: tuple[str, ...]) -> float:
    """Processor seconds of one command on a file with this text."""
    FILE.write_text(text, "utf-8", newline="")
    gone = StringIO()
    start = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        nanolint(["check", str(FILE), *COMMON, *command], stdout=gone, stderr=gone)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return time.process_time() - start


def slow(shape: Shape) -> str | None:
    """How a shape is slow; None if it is not."""
    times: list[float] = []
    count = FEWEST
    while len(text := shape.text(count)) <= MOST_CHARACTERS:
        try:
            times.append(work(text))
        except TooSlow:
            return f"{count} times: more than {SECONDS} s, after {times[-2:]}"
        quarter = times[-3] if len(times) > 2 else 0.0
        if quarter >= LEAST_SECONDS and times[-1] > MOST_GROWTH * quarter:
            return f"{count} times: {times[-1]:.2f} s, a quarter of them: {quarter:.2f} s"
        count *= 2
    return None


def over(*_: object) -> NoReturn:
    """Called when the processor time is over."""
    raise TooSlow


def main(seconds: float = 600, seed: int = 0) -> int:
    """Try all shapes alone, then mixed ones until ``seconds`` of processor time are over."""
    signal.signal(signal.SIGPROF, over)
    draw = random.Random(seed)
    shapes, tried, found = iter(alone()), 0, 0
    while (shape := next(shapes, None)) or time.process_time() < seconds:
        shape = shape or drawn(draw)
        told = slow(shape)
        tried += 1
        if told is not None:
            found += 1
            print(f"{shape.name}: {told}", flush=True)
    print(f"{tried} shapes, {found} slow")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*map(float, sys.argv[1:])))
