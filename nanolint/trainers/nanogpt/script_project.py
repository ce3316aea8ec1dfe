"""A project as its training script describes it: settings, choices, loop, and the scripts beside
it."""

from __future__ import annotations

import ast
from collections.abc import Set
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING

from nanolint.errors import Unusable
from nanolint.files.door import names
from nanolint.files.notes import memo
from nanolint.frozen import dataclass
from nanolint.profiles.profiles import SWITCHES, WITHOUT_WEIGHT
from nanolint.run.settled import Project
from nanolint.run.trust import Doubt, Subject
from nanolint.source.python import nodes
from nanolint.trainers.nanogpt.configurator import own_configurator, root_importer
from nanolint.trainers.nanogpt.keys import KEYS
from nanolint.trainers.nanogpt.reading import read_source, syntax_tree
from nanolint.trainers.nanogpt.train_script import (
    compile_calls,
    names_read,
    read_train_script,
    settable_keys,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

TRAINING_KEYS = frozenset({"batch_size", "max_iters"})  # which bench.py and sample.py lack
SCRIPT_LIMIT = 200  # Python files beside train.py that are searched for more keys


class _Wider(Set[str]):
    """Names, and those that the scripts beside a train.py add: these are read where one is asked
    for that is not among the others."""

    def __init__(self, own: Set[str], beside: Path, adds: Callable[[_Others], Set[str]]) -> None:
        self._own, self._beside, self._adds = own, beside, adds

    @property
    def _all(self) -> Set[str]:
        return self._own | self._adds(_other_scripts(self._beside))

    def __contains__(self, name: object) -> bool:
        return name in self._own or name in self._all

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    @classmethod
    def _from_iterable(cls, names: Iterable[str]) -> frozenset[str]:  # type: ignore[override]
        return frozenset(names)


@dataclass(frozen=True, slots=True)
class _Others:
    """What the other scripts beside a train.py that load the configurator let a config set, and
    which names they read; ``trainers`` names one for each key that only those which train have."""

    keys: frozenset[str]
    read: frozenset[str]
    trainers: Mapping[str, str]


@memo
def read_project(train_script: Path) -> Project | str:
    """The project of a train.py, or why there is none."""
    try:
        return _read_project(train_script)
    except Unusable as error:
        return str(error)


def scripts_in(folder: Path) -> list[Path]:
    """The Python files of a folder, by name."""
    return [folder / name for name in names(folder, "*.py")[:SCRIPT_LIMIT]]


def _read_project(train_script: Path) -> Project:
    """Raises Unusable when ``train_script`` is not nanoGPT's kind."""
    root = train_script.parent
    text = read_source(train_script)
    script = read_train_script(text, root_importer(root), root)
    own = names_read(script.tree)
    below = ast.Module(script.tree.body[script.configurator + 1 :], [])
    weighty = (script.environment.keys() & names_read(below)) - WITHOUT_WEIGHT - SWITCHES
    configurator = own_configurator(script.tree.body[script.configurator], root, weighty)
    doubts: tuple[Doubt, ...] = ()
    if configurator is not None:
        text_of = f"{configurator.name} does not read a config as nanoGPT's configurator does"
        doubts = (Doubt(Subject.SCRIPT, text_of, configurator),)
    return Project(
        root=root,
        train_script=train_script,
        defaults=script.defaults,
        environment=script.environment,
        dialect=script.dialect,
        simulated_gpus=script.simulated_gpus,
        known_keys=_Wider(frozenset(script.defaults), train_script, attrgetter("keys")),
        names_read=_Wider(own, train_script, attrgetter("read")),
        elsewhere=partial(_elsewhere, train_script, {*KEYS, *script.defaults, *own}),
        doubts=doubts,
        compile_mode=script.compile_mode,
        counts_emulation="including_emulation=False" not in text,
        settings_end=script.settings_end,
        open_choices=open_choices(script.tree),
        tree=script.tree,
        configurator=script.configurator,
        compiles=any(True for _ in compile_calls(script.tree)),
    )


def _elsewhere(train_script: Path, near: Set[str], key: str) -> str | None:
    return None if key in near else _other_scripts(train_script).trainers.get(key)


@memo
def _other_scripts(train_script: Path) -> _Others:
    keys: set[str] = set()
    read: frozenset[str] = frozenset()
    trainers: dict[str, str] = {}
    samplers: frozenset[str] = frozenset()
    for path in scripts_in(train_script.parent):
        if path == train_script:
            continue
        found, names_of = _configured(path)
        if found is None:
            continue
        keys |= found
        read |= names_of
        if found >= TRAINING_KEYS:
            trainers = dict.fromkeys(found, path.name) | trainers
        else:
            samplers |= found
    only = {key: name for key, name in trainers.items() if key not in samplers}
    return _Others(frozenset(keys), read, only)


def _configured(path: Path) -> tuple[frozenset[str] | None, frozenset[str]]:
    """The keys that a script lets configs set, and the names that it reads; None for the keys of
    one that loads no configurator, or cannot be read."""
    text = _text(path)
    if "configurator" not in text:
        return None, frozenset()
    try:
        tree = syntax_tree(text)
    except Unusable:
        return None, frozenset()
    found = settable_keys(tree, path.parent)
    return found, frozenset() if found is None else names_read(tree)


def _text(path: Path) -> str:
    try:
        return read_source(path)
    except Unusable:
        return ""


@memo
def trainers_in(folder: Path) -> tuple[Path, ...]:
    """The scripts of a folder that load the configurator and train, by name."""
    return tuple(path for path in scripts_in(folder) if trains_by_configs(path))


def settable(path: Path) -> frozenset[str]:
    """The keys that a script lets configs set, and the names that it reads."""
    found, read = _configured(path)
    return (found or frozenset()) | read


@memo
def trains_by_configs(path: Path) -> bool:
    """Whether the file at ``path`` loads the configurator and has the keys of a training script."""
    text = _text(path)
    if not all(key in text for key in TRAINING_KEYS):  # nobody has to take it apart
        return False
    found, _ = _configured(path)
    return found is not None and found >= TRAINING_KEYS


ENDS = frozenset({"exit", "_exit", "quit"})


def open_choices(tree: ast.Module) -> frozenset[str]:
    """The names that an ``if`` chain of ``tree`` compares with texts and whose ``else`` goes on.

    A name by which a dictionary is asked, ``{...}[dtype]``, is none of them.

    >>> open_choices(ast.parse("if m == 'a': f()\\nelse: g(m)"))
    frozenset({'m'})
    """
    found = {name for node in nodes(tree) for name in _open(node)}
    looked_up = {
        node.slice.id
        for node in nodes(tree)
        if isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Dict)
        and isinstance(node.slice, ast.Name)
    }
    return frozenset(found - looked_up)


def _open(node: ast.AST) -> Iterator[str]:
    """The names that the last link of a chain compares, where its ``else`` goes on."""
    if not isinstance(node, ast.If) or not node.orelse:
        return
    if not _is_link(node.orelse) and not _ends(node.orelse):
        yield from _compared(node.test)


def _is_link(branch: Sequence[ast.stmt]) -> bool:
    """Whether an ``else`` is an ``elif``: then the last link of the chain decides."""
    return len(branch) == 1 and isinstance(branch[0], ast.If)


def _ends(branch: Sequence[ast.stmt]) -> bool:
    """Whether a branch ends the run."""
    last = branch[-1]
    if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call):
        function = last.value.func
        name = function.attr if isinstance(function, ast.Attribute) else ""
        return (function.id if isinstance(function, ast.Name) else name) in ENDS
    return isinstance(last, (ast.Raise, ast.Assert))


def _compared(test: ast.expr) -> Iterator[str]:
    """The names that ``test`` compares with texts: by ``==``, ``in`` or ``startswith``."""
    for node in ast.walk(test):
        name: ast.expr | None = None
        if isinstance(node, ast.Compare) and any(map(_holds_text, node.comparators)):
            name = node.left
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name = node.func.value if node.func.attr == "startswith" else None
        if isinstance(name, ast.Name):
            yield name.id


def _holds_text(node: ast.expr) -> bool:
    return any(
        isinstance(each, ast.Constant) and isinstance(each.value, str) for each in ast.walk(node)
    )
