"""Which names PyTorch's classes and functions have in any release: another is the script's mistake.

``signatures.json`` is written by scripts/build_torch_signatures.py. It is read when first asked,
and its words are told apart only then: most checks ask for the arguments of a few functions.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from nanolint.tensors.names import ANY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.interpreter.values import Class

# Of these all attributes are in the list: others set more in their constructors.
WHOLE = frozenset(
    {
        *("Module", "Linear", "Embedding", "LayerNorm", "RMSNorm", "Dropout", "Sequential"),
        *("ModuleList", "ModuleDict", "GELU", "SiLU", "ReLU", "Identity"),
        *("Optimizer", "SGD", "Adam", "AdamW"),
    }
)
SPACES = {f"torch{each}" for each in ("", ".nn", ".nn.functional", ".nn.init", ".optim", ".cuda")}
SPACES.add("numpy")
OFTEN = ("dtype", "device", "requires_grad", "generator", "pin_memory", "keepdim", "non_blocking")
ALIKE = 0.8  # ``Linea`` and ``Linear``; a name of a release to come is like none


@cache
def _tables() -> dict[str, dict[str, str]]:
    """Names of classes and functions, each with its words in one line."""
    text = Path(__file__).with_name("signatures.json").read_text("utf-8")
    found: dict[str, dict[str, str]] = json.loads(text)
    return found


def takes_no(name: str, argument: str) -> bool:
    """Whether a class (``Linear``) or function (``F.rms_norm``) certainly has no such argument."""
    arguments = _tables()["arguments"].get(name)
    return arguments is not None and argument not in arguments.split()


def arguments_of(name: str) -> list[str]:
    """The arguments of a class or a function by its last name; none if it is not known."""
    arguments = _tables()["arguments"]
    return (arguments.get(name) or arguments.get(f"F.{name}") or "").split()


def tensors_have_no(name: str) -> bool:
    """Whether no tensor has such an attribute."""
    return name not in _tables()["attributes"]["Tensor"].split() and not name.startswith("__")


def arrays_have_no(name: str) -> bool:
    """Whether neither tensors nor NumPy's arrays have such an attribute, but one that is alike."""
    attributes = _tables()["attributes"]
    names = f"{attributes['Tensor']} {attributes['ndarray']}".split()
    return name not in names and is_alike(name, names)


def misspelt(space: str, name: str) -> bool:
    """Whether a module of PyTorch's has no such name in any release, but one that is much alike."""
    if space not in SPACES or name[0] == "_":
        return False
    names = f"{_tables()['names'][space]} {_tables()['attributes']['Tensor']}".split()
    return name not in names and is_alike(name, names)


@cache
def _arguments() -> frozenset[str]:
    """Every argument of PyTorch's, and NumPy's words for some."""
    return frozenset({*OFTEN, *ANY, *" ".join(_tables()["arguments"].values()).split()})


def is_misspelt(argument: str) -> bool:
    """Whether an argument that PyTorch has nowhere is much like one that many operations have."""
    return argument not in _arguments() and is_alike(argument, OFTEN)


def is_alike(name: str, names: Sequence[str]) -> bool:
    """Whether a name is one of ``names``, misspelt."""
    from difflib import get_close_matches  # of the few who ask

    return bool(get_close_matches(name, names, 1, ALIKE))


def has_no(cls: Class, name: str) -> bool:
    """Whether objects of ``cls`` certainly have no such attribute, unless the program sets it."""
    libraries = [each for each in cls.mro if not each.module.path]
    known = {each.name for each in libraries}
    if name.startswith("__") or not known <= WHOLE | {"object"}:
        return False
    base = "Optimizer" if "Optimizer" in known else "Module"
    tables = _tables()
    return not any(
        name in tables[kind].get(each, "").split()
        for each in (*known, base)
        for kind in ("attributes", "arguments")
    )
