"""The two names of the variable that sets PyTorch's allocator: what a script allocates is the same
by either, where it sets one and asks for none."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nanolint.regex import lazily

if TYPE_CHECKING:
    from collections.abc import Sequence

OLD, NEW = "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"
_NAMES = re.compile(r"PYTORCH_(?:CUDA_)?ALLOC_CONF")
_SET = lazily(rf"""^os\.environ\[(["'])(?P<name>{_NAMES.pattern})\1\](?= *= *["'])""", re.MULTILINE)


def by_name(texts: Sequence[str], name: str) -> list[str]:
    """``texts`` of one program, in which the variable is set by this ``name``."""
    if sum(len(_NAMES.findall(text)) for text in texts) != 1:
        return list(texts)
    return [
        f"{text[: found.start('name')]}{name}{text[found.end('name') :]}" if found else text
        for text, found in ((text, _SET.search(text)) for text in texts)
    ]
