"""A rule's page as data: its sections and the examples in them.

An example is a ``python`` block. Its info string says what nanolint is told::

    ```python title="config/small.py" gpu="rtx-3070" world-size="8" torch="2.1" set="batch_size=4"

A block that is marked ``beside`` is another file of the project. A ``text`` block below an example
holds what ``nanolint --output-format concise`` prints for it.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nanolint.units import MIB
from tests.support.harness import Bench

if TYPE_CHECKING:
    from pathlib import Path

SECTIONS = [
    "What it does",
    "Why is this bad?",
    "Example",
    "Use instead",
    "Fix safety",
    "Not reported",
]

_TITLE = re.compile(r"# (?P<name>[a-z0-9-]+) \((?P<code>[A-Z]+\d+)\)$")
_FENCE = re.compile(r"^```(\w*) ?(.*)\n((?:.*\n)*?)```$", re.MULTILINE)
_SETTING = re.compile(r'([\w-]+)(?:="([^"]*)")?')


@dataclass
class Block:
    """A fenced block; ``start`` is the offset of its body in the page."""

    language: str
    told: dict[str, str]
    body: str
    start: int


@dataclass
class Example:
    """A text to lint, the files around it, and what is printed below it."""

    heading: str
    block: Block
    printed: Block | None = None
    beside: list[Block] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The file's name."""
        return self.block.told.get("title", "config/example.py")

    def bench(self, code: str, folder: Path) -> Bench:
        """The files of the example in ``folder``, and the rule to lint them with."""
        for block in (self.block, *self.beside):
            path = folder / block.told.get("title", "config/example.py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.body, encoding="utf-8", newline="")
        told = self.block.told
        world_size, torch = told.get("world-size"), told.get("torch")
        overrides = (item.split("=", 1) for item in told.get("set", "").split() if item)
        return Bench(
            code,
            gpu=told.get("gpu", ""),
            world_size=int(world_size) if world_size else None,
            torch=_version(torch) if torch else None,
            allocator=told.get("allocator", "default"),
            in_use=int(told.get("in-use", "0MiB").removesuffix("MiB")) * MIB,
            overrides={key: ast.literal_eval(value) for key, value in overrides},
            path=folder / self.name,
        )


@dataclass
class Page:
    """A page: ``title`` of its first line, section bodies by heading, in order."""

    path: Path
    name: str
    code: str
    text: str
    sections: dict[str, str]

    @property
    def examples(self) -> list[Example]:
        """What must be found, in order."""
        return self._examples("Example")

    @property
    def cures(self) -> list[Example]:
        """What each example becomes, in order."""
        return self._examples("Use instead")

    @property
    def counterexamples(self) -> list[Example]:
        """What must not be found."""
        return self._examples("Not reported")

    def _examples(self, section: str) -> list[Example]:
        body = self.sections[section]
        offset = self.text.index(f"## {section}\n") + len(f"## {section}\n")
        found: list[Example] = []
        beside: list[Block] = []
        for match in _FENCE.finditer(body):
            told = dict(_SETTING.findall(match[2]))
            block = Block(match[1], told, match[3], offset + match.start(3))
            if block.language == "python" and "beside" in told:
                beside.append(block)
            elif block.language == "python":
                headings = re.findall(r"^### (.+)$", body[: match.start()], re.MULTILINE)
                found.append(Example(headings[-1] if headings else "", block, beside=beside))
                beside = []
            elif block.language == "text" and found:
                found[-1].printed = block
        return found


def read(path: Path) -> Page:
    """The page at ``path``."""
    text = path.read_text(encoding="utf-8")
    first, _, rest = text.partition("\n")
    title = _TITLE.match(first)
    assert title, f"{path}: the first line must be '# name (CODE)', is {first!r}"
    parts = re.split(r"^## (.+)\n", rest, flags=re.MULTILINE)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    return Page(path, title["name"], title["code"], text, sections)


def _version(text: str) -> tuple[int, int]:
    major, minor = text.split(".")
    return int(major), int(minor)
