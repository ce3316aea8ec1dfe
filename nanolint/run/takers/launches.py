"""Commands that launch a config as another run than its own text describes, and configs that a
notebook's cell writes.
"""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

from nanolint.errors import Refused, Unusable
from nanolint.files import door
from nanolint.files.notes import memo
from nanolint.frozen import dataclass
from nanolint.run.settled import Override
from nanolint.run.takers.commands import ALL, OPEN, SCRIPT, Command, argument, is_script, option
from nanolint.run.takers.neighbours import text_of
from nanolint.source.python import literal, new_tree
from nanolint.source.values import Unknown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from nanolint.run.takers.neighbours import File
    from nanolint.source.settings_text import Node

    Changes = Mapping[str, object]

    from nanolint.diagnostics import Span
    from nanolint.launches.placed import Placed
    from nanolint.source.assignments import Assignment

STEP = ("batch_size", "gradient_accumulation_steps")
EVALUATION = ("batch_size", "eval_iters")
TESTS = frozenset({"test", "tests"})  # folders
_TABLES = (".json", ".jsonc", ".yaml", ".yml", ".toml")  # where a command may stand in pieces
_SHEBANG = re.compile(r"#!.*\b(?:ba|z|k|da)?sh\b")
_NOTE = re.compile(r"(?:^|(?<=\s))//.*$|,(?=\s*[}\]])", re.MULTILINE)  # in launch.json
_ABOVE = re.compile(r"^(?:\.{1,2}[/\\])+")


@dataclass(frozen=True, slots=True)
class Asked:
    """The config that is asked about: who runs it, and where its project begins."""

    config: Path
    root: Path
    train_script: Path | None

    def is_named(self, word: str, file: File) -> bool:
        """Whether the path ``word`` in ``file`` leads to the config, or may, where it is open."""
        path = _ABOVE.sub("", word.replace("\\", "/"))
        if OPEN in path:
            pattern = re.escape(path).replace(OPEN, ".*")
            return re.search(f"(?:^|/){pattern}$", self.config.as_posix()) is not None
        if path.rpartition("/")[2] != self.config.name:
            return False
        there = self._found(path, file)
        if there is not None:
            return there == self.config or door.real(there) == door.real(self.config)
        parts = tuple(path.split("/"))
        return len(parts) == 1 or self.config.parts[-2:] == parts[-2:]

    def runs_configs(self, script: str, file: File, *, is_named: bool) -> bool:
        """Whether a script may be one that takes configs: train.py, or what is called like it.

        ``is_named``: the command names the config. If not, its script must be one of the project.
        """
        there = self._found(script, file)
        if self.train_script is None:
            return is_named or there is not None
        if there is None:
            name = Path(script).name
            return name == self.train_script.stem or "train" in name
        return there == self.train_script or _loads_configurator(there)

    def is_trainer(self, word: str, file: File) -> bool:
        """Whether a word is the path of a script that runs configs."""
        there = self._found(word, file) if is_script(word) else None
        return there is not None and (there == self.train_script or _loads_configurator(there))

    def overlay(self, word: str, file: File) -> frozenset[str] | None:
        """The keys that another config sets; None where that cannot be told."""
        there = self._found(word, file)
        return None if there is None else _keys_set(there)

    def _found(self, word: str, file: File) -> Path | None:
        """The Python file that a path in ``file``, or a module, leads to."""
        path = _ABOVE.sub("", word.replace("\\", "/"))
        path = path if path.endswith(SCRIPT) else f"{path}{SCRIPT}"
        if OPEN in path:
            return None
        return next((f / path for f in self._folders(file) if door.is_file(f / path)), None)

    def _folders(self, file: File) -> Iterator[Path]:
        """The folders that a path in ``file`` may begin in, the likely ones first."""
        yield file.path.parent
        if self.train_script is not None:
            yield self.train_script.parent
        yield self.root


@memo
def _loads_configurator(path: Path) -> bool:
    try:
        return b"configurator" in door.read_bytes(path)
    except Unusable:
        return True


@memo
def _keys_set(path: Path) -> frozenset[str] | None:
    """The names that a config may set; None where that cannot be told."""
    try:
        tree = new_tree(text_of(path) or "")
    except (Unusable, SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif (isinstance(node, ast.Name) and node.id in ("exec", "globals")) or (
            isinstance(node, ast.ImportFrom) and node.names[0].name == "*"
        ):
            return None
    return frozenset(found)


@dataclass(frozen=True, slots=True)
class Launch:
    """A command that names the config, or may, as far as it decides what the run is.

    ``is_certain``: it names the config, and all that matters of its words is known. ``keys`` are
    all that it sets, ``later`` the values of those after the config, ``early`` of those before it
    that the config does not set: a text of the line, None for another config's value and for what
    only a run knows. ``with_another``: with a config whose keys are not known. ``takes_all``: with
    whatever the script that it stands in is given.
    """

    row: int
    is_certain: bool
    is_named: bool
    keys: frozenset[str]
    later: Mapping[str, str | None]
    early: Mapping[str, str | None]
    has_expansion: bool = False
    with_another: bool = False
    takes_all: bool = False
    is_shared: bool = False
    world_size: int | None = None

    def change(self, changed: Changes, values: Changes) -> str | None:
        """How its run changes with the keys ``changed``, as a clause; None if it does not.

        ``values`` are those that the config has now.
        """
        if self.is_certain:
            return self._step_change(changed, values)
        which = "it" if self.is_named else "a file that may be this one"
        key = next((key for key in changed if key in self.keys), None)
        if key is not None:
            return f"launches {which} with another {key}"
        if self.with_another:
            return f"launches {which} together with another config"
        if self.has_expansion:
            return f"launches {which} with options known only at run time"
        return None

    def _step_change(self, changed: Changes, values: Changes) -> str | None:
        """How its step changes: what the words set stays, and goes with other values then."""
        on_line = {**self.early, **self.later}
        now = {**values, **on_line}
        then = {**values, **self.early, **changed, **self.later}
        evaluates = str(now.get("eval_only")) == "True"
        factors = EVALUATION if evaluates else STEP
        taken = [key for key in factors if key in changed and key not in self.later]
        before, after = ([_number(each.get(key)) for key in taken] for each in (now, then))
        if None not in (*before, *after) and _product(before) == _product(after):
            return None
        said = [key for key in factors if key in on_line] or ["eval_only"]
        own = ", ".join(f"{key} = {now[key]}" if now.get(key) else key for key in said)
        before, after = ([_number(each.get(key)) for key in factors] for each in (now, then))
        if None in (*before, *after):
            return f"launches it with {own}, which does not go with the new values"
        what = "sequences evaluated" if evaluates else "sequences a step"
        return (
            f"launches it with {own}: {_product(before):,} {what} would become {_product(after):,}"
        )


def _product(numbers: Sequence[int | None]) -> int:
    return prod(each or 1 for each in numbers)


def _number(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        return int(value) if value.isdecimal() and len(value) < 10 else None
    return value if isinstance(value, int) else None


def launches(file: File, asked: Asked) -> tuple[Launch, ...]:
    """The commands of ``file`` that launch the config, or may, as they are written."""
    commands = (*file.commands, *_in_pieces(file, asked))
    return tuple(filter(None, (_launch(each, file, asked) for each in commands)))


def changes(
    file: File, asked: Asked, changed: Changes, values: Changes
) -> Iterator[tuple[str, str]]:
    """Each command of ``file`` whose run changes with the keys ``changed``: its place, and how."""
    found = launches(file, asked)
    told = any(each.change(changed, values) for each in found)
    if may_be_followed(file) and (told or _says(file, changed)):
        followed = _followed_in(file.path)
        known = (each for row in followed.values() for each in row)
        # "$@" is nothing to who follows the script alone.
        kept = (each for each in found if each.row not in followed or each.takes_all)
        found = (*filter(None, (_launch(each, file, asked) for each in known)), *kept)
    for each in found:
        how = each.change(changed, values)
        if how is not None:
            yield f"{file.name}:{each.row}", how


def _says(file: File, keys: Iterable[str]) -> bool:
    """Whether one of ``keys`` stands anywhere in the file."""
    try:
        text = text_of(file.path) or ""
    except Unusable:
        return False
    return any(f"--{key}" in text for key in keys)


def _launch(command: Command, file: File, asked: Asked) -> Launch | None:
    """The command as a launch of the config; None if it is one of nothing, or of another."""
    script, words = command.script, command.words
    text = " ".join((script or "", *words))
    if not any(mark in text for mark in (asked.config.name, OPEN, ALL)):
        return None
    if script is not None and is_script(script) and _is_config(script, file, asked):
        words = (script, *words)
        script = None
    if script is None:  # in a table it is one of the words
        words = tuple(word for word in words if not asked.is_trainer(word, file))
    configs = [word for word in words if is_script(word)]
    closed = [word for word in configs if OPEN not in word]
    is_named = any(asked.is_named(word, file) for word in closed)
    if closed and not is_named:
        return None
    steps = list(_steps(words))
    openings = [word for word, setting in steps if setting is None and OPEN in word]
    if not is_named:
        may_be = [word for word in openings if asked.is_named(word, file)]
        if not may_be and not (ALL in words and not openings):
            return None
        openings = openings[1:]
        if TESTS.intersection(file.name.split("/")):  # nobody keeps what a test trains
            return None
    known = None if script is None or OPEN in script else script
    if known is not None and not asked.runs_configs(known, file, is_named=is_named):
        return None
    keys: set[str] = set()
    early: dict[str, str | None] = {}
    later: dict[str, str | None] = {}
    with_another = False
    has_expansion = bool(openings)
    own = _keys_set(asked.config)
    for word, setting in steps:
        if setting is not None:
            keys.add(setting[0])
            has_expansion = has_expansion or OPEN in setting[0]
            later[setting[0]] = setting[1]
        elif is_script(word) and OPEN not in word and asked.is_named(word, file):
            early = {} if own is None else {k: v for k, v in later.items() if k not in own}
            later = {}
        elif is_script(word) and OPEN not in word:
            others = asked.overlay(word, file)
            with_another = with_another or others is None
            keys |= others or frozenset()
            later |= dict.fromkeys(others or ())
    certain = is_named and script is not None and not has_expansion and not with_another
    return Launch(
        command.row,
        is_certain=certain,
        is_named=is_named,
        keys=frozenset(keys),
        later=later,
        early=early,
        has_expansion=has_expansion,
        with_another=with_another,
        takes_all=ALL in words,
        is_shared=command.is_shared,
        world_size=command.world_size,
    )


def _is_config(script: str, file: File, asked: Asked) -> bool:
    """Whether what stands where the script does is a config."""
    if OPEN in script:
        return asked.config.parent.name in script.split("/") and asked.is_named(script, file)
    return asked.is_named(script, file)


def _steps(words: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, str | None] | None]]:
    """The words with what they set; those that are the value of the option before are left out."""
    waits = False
    for word in words:
        setting = option(word)
        if setting is None and waits and not is_script(word) and word != ALL:
            waits = False
            continue
        waits = setting is not None and setting[1] is None and word.startswith("-")
        if setting is not None and setting[1] is not None and OPEN in setting[1]:
            setting = (setting[0], None)
        yield word, setting


# What a reader of launch files knows more of than a search does: variables, loops, functions.


def may_be_followed(file: File) -> bool:
    """Whether a file may be one that nanolint.launches reads: a script, a Makefile."""
    return not file.is_python and not file.name.endswith(".ipynb")


@memo
def _followed_in(path: Path) -> Mapping[int, Sequence[Command]]:
    """The commands of a launch file whose scripts are known, by their rows."""
    from nanolint.launches.files import find_launches, is_launch_file

    def script(other: str) -> str | None:
        try:
            return text_of(path.parent / other)
        except Unusable:
            return None

    known: dict[int, list[Command]] = {}
    unknown = set()
    try:
        text = text_of(path) or ""
        name = "run.sh" if _SHEBANG.match(text) else path.name
        for found in find_launches(name, text, script) if is_launch_file(name) else ():
            launch = found.launch
            if launch is None:
                unknown.add(found.row)
                continue
            words = tuple(argument(each.text) for each in launch.arguments)
            count = launch.processes.count
            before = "" if count == 1 else f"torchrun --nproc_per_node={count or OPEN}"
            command = Command(found.row, found.row, launch.script.as_posix(), words, before)
            known.setdefault(found.row, []).append(command)
    except (Refused, ValueError, RecursionError):
        return {}
    return {row: each for row, each in known.items() if row not in unknown}


# Tables: {"config": "config/a.py", "overrides": {"batch_size": 4}}


def _in_pieces(file: File, asked: Asked) -> Iterator[Command]:
    """The tables of ``file`` that name the config, each as a command that may follow any script."""
    if not file.name.lower().endswith(_TABLES) or not file.names_scripts:
        return
    try:
        text = text_of(file.path) or ""
    except Unusable:
        return
    if asked.config.name in text:
        yield from _tables(text, file.name.lower())


@lru_cache(maxsize=256)
def _tables(text: str, name: str) -> tuple[Command, ...]:
    from nanolint.source.settings_text import read_json, read_yaml
    from nanolint.source.toml_text import read_toml

    try:
        if name.endswith((".json", ".jsonc")):
            node = read_json(_NOTE.sub("", text))
        else:
            node = read_toml(text) if name.endswith(".toml") else read_yaml(text)
    except Refused:
        return ()
    found: list[Command] = []
    tables = list(_tables_of(node))
    for table in [node] if len(tables) == 1 else tables:  # its other tables are about that run, too
        words = tuple(_words_of(table))
        named = next(filter(is_script, words))
        row = 1 + text[: max(text.find(named), 0)].count("\n")
        found.append(Command(row, row, None, words))
    return tuple(found)


def _tables_of(node: Node) -> Iterator[Node]:
    """The innermost tables that name a script."""
    from nanolint.source.settings_text import Leaf, Mapped

    if isinstance(node, Leaf):
        return
    inside = [e for _, e in node.entries] if isinstance(node, Mapped) else node.items
    inner = [table for each in inside for table in _tables_of(each)]
    yield from inner
    if isinstance(node, Mapped) and not inner and any(map(is_script, _words_of(node))):
        yield node


def _words_of(node: Node) -> Iterator[str]:
    """The words of a table: its values, and its keys as options."""
    from nanolint.source.settings_text import Leaf, Listed, Mapped

    if isinstance(node, Leaf):
        if isinstance(node.value, str) and not re.search(r"\s", node.value):
            yield node.value
    elif isinstance(node, Listed):
        for each in node.items:
            yield from _words_of(each)
    elif isinstance(node, Mapped):
        for key, each in node.entries:
            value = each.value if isinstance(each, Leaf) else None
            yield f"--{key}" if value is None else f"--{key}={value}"
            yield from _words_of(each)


def read_written(config: Placed) -> Iterator[Override]:
    """What ``config`` sets, each with where it stands. Raises ValueError, in one line."""
    from nanolint.source.parse import Unparsable, parse
    from nanolint.source.values import TooComplex

    try:
        module = parse(config.text, {})
    except (Unparsable, TooComplex) as error:
        raise ValueError(f"cannot be read: {error}") from error
    dynamic = dict(module.dynamic)
    if "*" in dynamic:
        raise ValueError(f"may set any key: {dynamic['*']}")
    assigned = {each.key: each for each in module.assignments}
    for key, value in module.final.items():
        each = assigned.get(key)
        if key in dynamic:
            yield Override(key, Unknown(dynamic[key]), in_config=True)
        elif each is not None:
            place = config.span(each.key_span.start, each.value_span.end)
            value_place = _value_place(config, each) if each.value == value else None
            yield Override(key, value, place, value_place, in_config=True)


def _value_place(config: Placed, each: Assignment) -> Span | None:
    """Where another value can be put in the place of a literal, or of a product of them.

    Of a text that is what its quotes hold: they stay.
    """
    if each.shared:
        return None
    start, end = each.value_span.start, each.value_span.end
    if each.factors and all(factor.value is not None for factor in each.factors):
        return config.exact(start, end)
    try:
        value = literal(each.expression)
    except (ValueError, SyntaxError):
        return None
    if isinstance(value, str):
        is_plain = each.expression in (f"'{value}'", f'"{value}"')
        return config.exact(start + 1, end - 1) if is_plain else None
    return config.exact(start, end) if isinstance(value, (int, float)) else None
