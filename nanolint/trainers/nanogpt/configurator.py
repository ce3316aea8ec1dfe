"""The configurator of a script: whether it does what nanoGPT's does, and what it reads.

It takes a config's values, by ``exec(open(config).read())``, and then the words of the launch line.
``from config.base import *`` between configs is followed without running anything.
"""

from __future__ import annotations

import ast
import codecs
from typing import TYPE_CHECKING

from nanolint.errors import Unusable
from nanolint.files.door import is_file, read_bytes
from nanolint.frozen import dataclass
from nanolint.run.settled import Layer, Origin, Override, Setting
from nanolint.source.python import compile_only, nodes
from nanolint.source.values import Known, Unknown
from nanolint.trainers.nanogpt.keys import KEYS
from nanolint.trainers.nanogpt.reading import SOURCE_LIMIT, read_source, syntax_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping
    from pathlib import Path

    from nanolint.run.settled import Options, Project
    from nanolint.source.assignments import Module
    from nanolint.source.values import Value

WORDS = "argv"
FROM_THE_FIRST = "1:"  # of sys.argv; a word is cut elsewhere


def takes_the_launch_line(statement: ast.stmt, folder: Path, keys: Collection[str]) -> bool:
    """Whether the configurator that ``statement`` loads reads the launch line, and sets none of
    ``keys`` by itself. One that names a config of its own makes another run."""
    tree = _tree(statement, folder)
    return tree is not None and _takes(tree, keys)


def _takes(tree: ast.Module, keys: Collection[str]) -> bool:
    names = [each for each in nodes(tree) if isinstance(each, ast.Name)]
    sets = {each.id for each in names if isinstance(each.ctx, ast.Store)}
    words = {each.attr for each in nodes(tree) if isinstance(each, ast.Attribute)}
    words |= {each.id for each in names}
    elements = (
        each.slice
        for each in nodes(tree)
        if isinstance(each, ast.Subscript) and isinstance(each.ctx, ast.Store)
    )
    by_name = all(isinstance(each, ast.Name) for each in elements)
    return WORDS in words and by_name and not sets & set(keys)


def behind_the_launch_line(statement: ast.stmt, folder: Path, keys: Collection[str]) -> str | None:
    """What the configurator does when it has taken the launch line as nanoGPT's does, to be read;
    None where it takes it otherwise. One that is not there is nanoGPT's."""
    if not is_file(file_of(statement, folder)):
        return ""
    tree = _tree(statement, folder)
    if tree is None:
        return None
    body = tree.body
    loops = [at for at, each in enumerate(body) if isinstance(each, ast.For)]
    if not loops or any(WORDS in ast.unparse(each) for each in body[loops[0] + 1 :]):
        return None
    upto, rest = body[: loops[0] + 1], body[loops[0] + 1 :]
    if not _takes(ast.Module(upto, []), keys):
        return None
    return ast.unparse(ast.Module(rest, []))


def needs_dashes(statement: ast.stmt, folder: Path) -> bool:
    """Whether a word of the launch line sets a key as ``--key=value``: the configurator that
    ``statement`` loads asks for dashes, or cuts them off. One that is not there is nanoGPT's."""
    tree = _tree(statement, folder)
    if tree is None or not _takes(tree, ()):
        return True  # it takes no words, or sets other keys by itself: a doubt of its own
    for each in nodes(tree):
        if isinstance(each, ast.Slice) and ast.unparse(each) != FROM_THE_FIRST:
            return True
        if isinstance(each, ast.Constant) and str(each.value).startswith("-"):
            return True
    return False


def file_of(statement: ast.stmt, folder: Path) -> Path:
    """The configurator that ``statement`` loads."""
    return folder / _file(statement)


def own_configurator(statement: ast.stmt, folder: Path, keys: Collection[str]) -> Path | None:
    """The configurator that ``statement`` loads, where it is there and may make another run of a
    config than nanoGPT's does."""
    path = file_of(statement, folder)
    if not is_file(path) or takes_the_launch_line(statement, folder, keys):
        return None
    return path


def _tree(statement: ast.stmt, folder: Path) -> ast.Module | None:
    """The configurator that ``statement`` loads; None where it cannot be read."""
    try:
        return syntax_tree(read_source(file_of(statement, folder)))
    except (Unusable, RecursionError):
        return None


def _file(statement: ast.stmt) -> str:
    if isinstance(statement, ast.ImportFrom):
        return f"{(statement.module or '').replace('.', '/')}.py"
    for each in ast.walk(statement):
        if isinstance(each, ast.Constant) and str(each.value).endswith(".py"):
            return str(each.value)
    return "configurator.py"


_EXITS = frozenset({"exit", "quit", "sys.exit", "os._exit"})


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why the configurator cannot run a config, or not to its end, and at which line (from 1)."""

    text: str
    line: int = 1


def obstacle(text: str, path: Path | None) -> Obstacle | None:
    """What keeps the config ``text`` from being run; ``path`` is where its bytes are, if anywhere.

    It is compiled, which runs nothing: some errors are found only then. Never raises.
    """
    return _undecodable(path) or _uncompilable(text, path) or _end(text)


def _undecodable(path: Path | None) -> Obstacle | None:
    """open() reads in the locale's encoding, UTF-8, whatever a cookie says, and keeps the mark."""
    try:
        raw = read_bytes(path, SOURCE_LIMIT) if path is not None else b""
    except Unusable:
        return None
    if raw.startswith(codecs.BOM_UTF8):
        return Obstacle("it begins with a byte order mark, which exec refuses; save it without one")
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        return Obstacle(
            "it is not UTF-8, but open() reads it as UTF-8, whatever encoding it declares", line
        )
    return None


def _uncompilable(text: str, path: Path | None) -> Obstacle | None:
    try:
        compile_only(text, str(path or "config.py"))
    except SyntaxError as error:
        return Obstacle(f"Python refuses it: {error.msg}", error.lineno or 1)
    except (RecursionError, MemoryError, ValueError, OverflowError):
        return None  # Python may take it with more room
    return None


def _end(text: str) -> Obstacle | None:
    """A statement at the top that surely ends the run, with settings below it."""
    try:
        body = syntax_tree(text).body
    except Unusable:
        return None
    for index, statement in enumerate(body):
        below = any(isinstance(each, (ast.Assign, ast.AnnAssign)) for each in body[index + 1 :])
        if below and _ends(statement):
            what = ast.unparse(statement).partition("\n")[0]
            text = f"`{what}` ends the run, so nothing below it is set"
            return Obstacle(text, statement.lineno)
    return None


def _ends(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Raise):
        return True
    if isinstance(statement, ast.Assert):
        return isinstance(statement.test, ast.Constant) and not statement.test.value
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return ast.unparse(statement.value.func) in _EXITS
    return False


@dataclass(frozen=True, slots=True)
class Step:
    """A config or an override, and what it sets; ``config`` is None for an override."""

    config: Path | None
    settings: tuple[Setting, ...]


def steps(
    module: Module | None, project: Project, options: Options, config_path: Path | None
) -> Iterator[Step]:
    """What is read on top of train.py's defaults, in that order.

    The file at ``config_path`` is given as ``module``. Where the launch line does not name it, it
    is read first.
    """
    values = dict(project.environment)
    if module is not None and config_path not in options.arguments:
        yield Step(config_path, tuple(_file_settings(module, project, config_path)))
    for argument in options.arguments:
        if isinstance(argument, Override):
            step = Step(None, (_overridden(argument),))
        elif argument == config_path and module is not None:
            step = Step(argument, tuple(_file_settings(module, project, argument)))
        else:
            step = Step(argument, tuple(_other_settings(argument, project, values)))
        values |= {setting.key: setting.value for setting in step.settings}
        yield step
    for key, value in options.overrides:
        yield Step(None, (_overridden(Override(key, value)),))


def environment_of(
    config_path: Path | None, project: Project, options: Options
) -> Mapping[str, Value]:
    """The names that exist when the launch line's ``config_path`` is executed."""
    values = dict(project.environment)
    if config_path not in options.arguments:
        return values
    for step in steps(None, project, options, None):
        if step.config == config_path:
            break
        values |= {setting.key: setting.value for setting in step.settings}
    return values


def _overridden(override: Override) -> Setting:
    origin = Origin(Layer.OVERRIDE, span=override.place)
    return Setting(override.key, override.value, origin)


def _other_settings(
    path: Path, project: Project, environment: Mapping[str, Value]
) -> Iterator[Setting]:
    """What another config of the launch line sets; all keys are unknown where it is unreadable."""
    from nanolint.source.parse import Unparsable, parse
    from nanolint.source.values import TooComplex

    origin = Origin(Layer.LAUNCHED, path)
    try:
        module = parse(read_source(path), environment, star_importer(project, path))
    except (Unusable, Unparsable, TooComplex) as error:
        reason = f"{path.name} cannot be read: {error}"
        for key in {*KEYS, *project.defaults}:
            yield Setting(key, Unknown(reason), origin)
        return
    for setting in _file_settings(module, project, path):
        yield Setting(setting.key, setting.value, origin)


def _file_settings(module: Module, project: Project, config_path: Path | None) -> Iterator[Setting]:
    """What the file at ``config_path`` sets."""
    if is_train_script(config_path, project):
        yield from _train_script_settings(module, project, config_path)
        return
    assigned = {assignment.key: assignment for assignment in module.assignments}
    dynamic = dict(module.dynamic)
    imported = {key for key, _ in module.imported}
    for key, value in module.final.items():
        origin = Origin(Layer.FILE, config_path)
        if key in assigned:
            # Of a chain of writings, the last counts: an assignment, an import, or a block.
            origin = Origin(Layer.FILE, config_path, assigned[key].value_span)
            if key in imported and assigned[key].value != value and key not in dynamic:
                origin = Origin(Layer.IMPORT)
        elif key in imported:
            origin = Origin(Layer.IMPORT)
        elif key not in dynamic and key not in project.defaults:
            continue  # a function, a class or a module: nothing that train.py reads
        yield Setting(key, value, origin)
    if "*" in dynamic:
        for key in {*KEYS, *project.defaults} - module.final.keys():
            yield Setting(key, Unknown(dynamic["*"]), Origin(Layer.FILE, config_path))


def _train_script_settings(
    module: Module, project: Project, config_path: Path | None
) -> Iterator[Setting]:
    """What stands above the configurator line of a train.py.

    What the rest does to the names (under ``if ddp:``, say) is the run itself, which the replay
    knows. ``module`` may be newer than the file that ``project`` was read from.
    """
    for assignment in module.assignments:
        default = project.defaults.get(assignment.key)
        if default is None:
            continue
        if project.settings_end is not None and assignment.statement.end > project.settings_end:
            continue
        value = assignment.value
        written_again = isinstance(default, Unknown) and not default.candidates
        if written_again and isinstance(value, Known):
            value = default  # something else above the line writes it at run time
        span = assignment.value_span
        yield Setting(assignment.key, value, Origin(Layer.FILE, config_path, span))


def is_train_script(path: Path | None, project: Project) -> bool:
    """Whether the file at ``path`` is the train.py whose globals are the project's defaults."""
    script = project.train_script
    if path is None or script is None:
        return False
    if path.absolute() == script:
        return True
    try:
        return path.samefile(script)
    except OSError:
        return False


DEPTH_LIMIT = 16  # imports of imports


def star_importer(
    project: Project, config_path: Path | None
) -> Callable[[str], Mapping[str, Value] | None]:
    """The callback with which source.parse follows star imports of the file at ``config_path``."""
    return _importer(_search_path(project, config_path), (), {})


def root_importer(root: Path) -> Callable[[str], Mapping[str, Value] | None]:
    """As star_importer, for the scripts in ``root``."""
    return _importer((root,), (), {})


def _search_path(project: Project, config_path: Path | None) -> tuple[Path, ...]:
    """Where ``import`` would look: train.py's folder; without one, the folders above the file."""
    if project.root is not None:
        return (project.root,)
    return () if config_path is None else tuple(config_path.absolute().parents)[:2]


def _locate(module_name: str, places: tuple[Path, ...]) -> Path | None:
    parts = module_name.split(".")
    if not all(part.isidentifier() for part in parts):
        return None  # relative: a config has no package to be relative to
    for place in places:
        path = place.joinpath(*parts).with_suffix(".py")
        if is_file(path):
            return path
    return None


def _importer(
    places: tuple[Path, ...],
    importing: tuple[Path, ...],
    done: dict[Path, Mapping[str, Value] | None],
) -> Callable[[str], Mapping[str, Value] | None]:
    """``importing``: the files whose import is under way, outermost first. ``done``: all others;
    without it, files that import each other in layers would be read exponentially often."""

    def star_import(module_name: str) -> Mapping[str, Value] | None:
        path = _locate(module_name, places)
        if path is None or path in importing or len(importing) >= DEPTH_LIMIT:
            return None
        if path not in done:
            done[path] = _exports(path, _importer(places, (*importing, path), done))
        return done[path]

    return star_import


def _exports(
    path: Path, star_import: Callable[[str], Mapping[str, Value] | None]
) -> dict[str, Value] | None:
    """What ``import *`` takes from the module at ``path``, None when that cannot be told."""
    from nanolint.source.parse import Unparsable, parse
    from nanolint.source.values import TooComplex

    try:
        module = parse(read_source(path), None, star_import)
    except (Unusable, Unparsable, TooComplex):
        return None
    if any(key == "*" for key, _ in module.dynamic):
        return None
    values = module.final
    listed = values.get("__all__")
    if listed is None:
        return {key: value for key, value in values.items() if not key.startswith("_")}
    if not isinstance(listed, Known) or not isinstance(listed.value, (list, tuple)):
        return None
    return {key: values[key] for key in listed.value if isinstance(key, str) and key in values}
