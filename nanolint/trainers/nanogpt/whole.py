"""The run of a nanoGPT-like train.py that is read whole: a config's values over its globals."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.errors import Unusable
from nanolint.gpus.abilities import has_bfloat16
from nanolint.run.capability import attention_kernel
from nanolint.run.coverage import not_covered
from nanolint.run.program import FromRun, Placed, ReadScript, SourceText
from nanolint.run.run import MODEL
from nanolint.run.settled import Layer
from nanolint.run.trust import Subject, ordered
from nanolint.source.python import literal
from nanolint.source.values import Known
from nanolint.trainers.nanogpt.configurator import behind_the_launch_line, file_of, is_train_script
from nanolint.trainers.nanogpt.data_files import META, VOCABULARY, data_files, is_told
from nanolint.trainers.nanogpt.reading import read_source, syntax_tree
from nanolint.trainers.nanogpt.roles import with_passes
from nanolint.trainers.nanogpt.setup.passed import SHAPE
from nanolint.trainers.nanogpt.train_script import names_read
from nanolint.trainers.script.corpora import texts_of
from nanolint.trainers.script.sources import MAIN, sources

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from pathlib import Path

    from nanolint.gpus.gpu import Gpu
    from nanolint.run.run import Run
    from nanolint.run.settled import Project, Resolution, Setting, Unresolved
    from nanolint.run.trust import Doubt
    from nanolint.source.values import Plain
    from nanolint.trainers.nanogpt.roles import Roles

# What no reading of a script tells: which one it is, how many processes, what its data holds.
BEYOND_READING = frozenset(
    {Subject.PROCESSES, Subject.SCRIPT, Subject.VOCABULARY, Subject.ENVIRONMENT}
)

# Set by a config or its user, or by the card in the place of what they set.
_SET = (Layer.IMPORT, Layer.LAUNCHED, Layer.FILE, Layer.OVERRIDE, Layer.GPU)
_CONFIGS = (Layer.LAUNCHED, Layer.FILE)
_SETS = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Pass)
_FOLLOWED = (
    *("batch_size", "block_size", "gradient_accumulation_steps"),
    *("n_layer", "n_head", "n_embd", "dropout", "bias", "dtype", "compile"),
    "eval_iters",
)
# What stands for a value that only a run tells.
_NOT_KNOWN = "open('')"


def whole_run(
    project: Project,
    settings: Mapping[str, Setting],
    deciding: Mapping[str, str | None],
    run: Run,
    saved: tuple[tuple[str, Plain], ...] = (),
) -> ReadScript | None:
    """The script of ``project`` with ``settings`` in the place of its configurator's line.

    ``settings`` are by the script's own keys, before they were given roles; ``deciding`` says which
    of them gives a role of ``run``, ``saved`` what a checkpoint has. None where the script cannot
    be read for what it is asked.
    """
    script, tree = project.train_script, project.tree
    if script is None or tree is None or project.configurator is None:
        return None
    statement = tree.body[project.configurator]
    if not isinstance(statement, (ast.Expr, ast.ImportFrom)) or statement.col_offset:
        return None  # under a condition
    below = names_read(ast.Module(tree.body[project.configurator + 1 :], []))
    keys = project.environment.keys() & below
    rest = behind_the_launch_line(statement, script.parent, keys)
    if rest is None:
        return None
    files = tuple(data_files(project, settings))
    try:
        texts = tuple(each for _, each in sources(read_source(script), script))
    except Unusable:
        return None
    if is_told(settings, project) and not any(META in each.text for each in texts):
        return None  # it takes none from a file
    lines = texts[0].text.splitlines(keepends=True)
    start = statement.lineno - 1
    stop = statement.end_lineno or statement.lineno
    before, after = "".join(lines[:start]), "".join(lines[stop:])
    if project.root is not None:
        told = [each.value.value for each in settings.values() if isinstance(each.value, Known)]
        named = (each for each in told if isinstance(each, str))
        files = (*files, *texts_of(texts, project.root, named))
    configs = _doing_more(settings, project)
    set_here, values = _assignments(project, settings, deciding, run, len(before), configs)
    if rest:
        set_here += f"; exec({rest!r})"
    text = f"{before}{set_here}{chr(10) * (stop - start)}{after}"
    main = SourceText(MAIN, texts[0].path, text)
    return ReadScript((main, *texts[1:]), values, files=files, checked=True, saved=saved)


def outlives(doubt: Doubt, project: Project) -> bool:
    """Whether a reading of the whole script leaves a doubt: one of its configurator it does not."""
    script, tree = project.train_script, project.tree
    if script is None or tree is None or project.configurator is None:
        return doubt.subject in BEYOND_READING
    configurator = file_of(tree.body[project.configurator], script.parent)
    return doubt.subject in BEYOND_READING and doubt.path != configurator


def _doing_more(settings: Mapping[str, Setting], project: Project) -> dict[Path, str]:
    """The configs that do more than to set values that are known: they call, define or import
    something, or set a list."""
    not_known = {e.origin.path for e in settings.values() if not isinstance(e.value, Known)}
    found: dict[Path, str] = {}
    origins = [each.origin for each in settings.values()]
    for path in dict.fromkeys(each.path for each in origins if each.layer in _CONFIGS):
        if path is None or is_train_script(path, project):
            continue
        try:
            text = read_source(path)
            tree = syntax_tree(text)
        except Unusable:
            continue
        plain = all(isinstance(each, _SETS) or _is_said(each) for each in tree.body)
        if not plain or path in not_known:
            found[path] = text
    return found


def _is_said(statement: ast.stmt) -> bool:
    """Whether it is a docstring, or only prints."""
    if not isinstance(statement, ast.Expr):
        return False
    value = statement.value
    prints = isinstance(value, ast.Call) and ast.unparse(value.func) == "print"
    return prints or isinstance(value, ast.Constant)


def _assignments(
    project: Project,
    settings: Mapping[str, Setting],
    deciding: Mapping[str, str | None],
    run: Run,
    start: int,
    configs: Mapping[Path, str],
) -> tuple[str, tuple[Placed, ...]]:
    """The statements that stand for the configurator's line, and their places that follow a run.

    ``configs`` are run first, as the configurator does, and what they set is set again: a value of
    theirs that is not known here is what they make of it.
    """
    follows = {deciding.get(role, role): role for role in _FOLLOWED}
    parts = ["pass", *(f"; exec({text!r}, {path.name!r})" for path, text in configs.items())]
    placed: list[Placed] = []
    at = start + sum(map(len, parts))
    for key, setting in settings.items():
        role = follows.get(key)
        if role is not None and setting.value != Known(run.value(role)):
            role = None
        is_set = setting.origin.layer in _SET and key.isidentifier()
        if not (is_set or role) or (key == VOCABULARY and key not in project.environment):
            continue
        if not isinstance(setting.value, Known) and (
            setting.origin.path == project.train_script or setting.origin.path in configs
        ):
            continue  # the script itself says it, or the config does
        value = _written(setting)
        part = f"; {key} = {value}"
        parts.append(part)
        if role is not None:
            place = at + len(part) - len(value)
            placed.append(Placed(MAIN, place, place + len(value), FromRun(role)))
        at += len(part)
    return "".join(parts), tuple(placed)


def _written(setting: Setting) -> str:
    if not isinstance(setting.value, Known):
        return _NOT_KNOWN
    text = repr(setting.value.value)
    try:
        literal(text)
    except (ValueError, SyntaxError):  # inf
        return _NOT_KNOWN
    return text


def read_run(run: Run, program: ReadScript, gpu: Gpu | None) -> Run:
    """``run`` with a model of its own: nothing of nanoGPT's is said of it but what it follows."""
    dtype = "bfloat16" if has_bfloat16(gpu) else "float16"
    kernel = attention_kernel(gpu, dtype=dtype, head_size=None, dropout=False)
    others = dict.fromkeys(MODEL - program.follows)
    return replace(run, program=program, attention=kernel).having(**others)


# The model, what it begins with and whether it is compiled: a reading of the script tells it.
TOLD = frozenset({*SHAPE, "init_from", "compile"})


def whole_read(
    found: Resolution,
    roles: Roles,
    needed: tuple[Run, Collection[Unresolved]],
    settings: tuple[Mapping[str, Setting], Mapping[str, Setting]],
    project: Project,
    gpu: Gpu | None,
) -> Resolution | None:
    """The run with all of its script read, and what is in doubt of it still.

    ``settings`` are by the script's keys, and by their roles. None where the micro-batch is not
    known, or the reading has no place for its values.
    """
    run, unresolved = needed
    configured, taken = settings
    unknown = {each.key for each in unresolved}  # of these the reading tells what they are
    if unknown - TOLD or project.unusable:
        return None
    shaped = with_passes(replace(run, compile=run.compile or "compile" in unknown), roles)
    saved = tuple(_known(taken, SHAPE).items()) if run.sizes.init_from == "resume" else ()
    program = whole_run(project, configured, roles.deciding, shaped, saved)
    if program is None:
        return None
    run = read_run(shaped, program, gpu)
    run = replace(run, block_size=0) if "block_size" in unknown else run
    run = replace(run, vocab_size=0) if "vocab_size" in unknown else run
    doubts = [each for each in found.doubts if outlives(each, project)]
    doubts += not_covered(run, gpu)
    return replace(found, run=run, unresolved=(), doubts=ordered(doubts))


def _known(settings: Mapping[str, Setting], roles: Iterable[str]) -> dict[str, Plain]:
    """Those of the roles whose values are known."""
    values = ((role, settings[role].value) for role in roles if role in settings)
    return {role: value.value for role, value in values if isinstance(value, Known)}
