"""The values that reach the model, the batch and the loop of a project's script, by their roles.

A role has the name of nanoGPT's key for it. A script may take it from another key, compute it, or
leave it to the default of its model's class; what it does with it decides, not what the key is
called.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

from nanolint.errors import Unusable
from nanolint.files.door import is_file
from nanolint.files.notes import memo
from nanolint.frozen import dataclass
from nanolint.run.run import Dialect
from nanolint.run.settled import Layer, Origin, Setting
from nanolint.run.trust import Doubt, Subject
from nanolint.source.values import Known, Unknown
from nanolint.trainers.nanogpt.data_files import (
    META,
    VOCABULARY,
    is_told,
    pickled_vocabulary,
    whether_it_exists,
)
from nanolint.trainers.nanogpt.keys import KEYS, PRETRAINED_SIZES
from nanolint.trainers.nanogpt.reading import read_source, syntax_tree
from nanolint.trainers.nanogpt.setup.expressions import Built, Just, Mystery, Named, Surroundings
from nanolint.trainers.nanogpt.setup.passed import ABSENT, SHAPE, Passed, follow
from nanolint.units import listed

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from nanolint.run.run import Run
    from nanolint.run.settled import Project
    from nanolint.source.values import Plain
    from nanolint.trainers.nanogpt.setup.expressions import Thing

BATCH = ("batch_size", "block_size")
PASSES = "gradient_accumulation_steps"
# A script that has no such key gives the value in another way, or needs none.
ROLES = tuple(dict.fromkeys((*KEYS, *SHAPE)))


@dataclass(frozen=True, slots=True)
class Roles:
    """What a script passes on, for one config.

    ``deciding`` maps a role to the key that its value comes from, None where it is computed; roles
    that are not in it come from the key of their own name. ``passes`` are the forward-backward
    passes of one step and process, None where only a run tells. ``doubts`` are what of it is not
    known.
    """

    deciding: dict[str, str | None]
    passes: int | None = None
    doubts: tuple[Doubt, ...] = ()


def settle_roles(
    settings: dict[str, Setting],
    project: Project,
    overridden: Collection[str],
    *,
    world_size: int,
    has_bfloat16: bool,
) -> Roles:
    """Give each role in ``settings`` the value that the project's script passes on for it."""
    settling = _Settling(settings, project, overridden)
    settling.around = Surroundings(world_size, has_bfloat16, settling.exists, settling.vocabulary)
    return settling.roles()


def with_passes(run: Run, roles: Roles) -> Run:
    """``run`` with as many passes as the loop runs, where the script computes them otherwise."""
    if roles.passes is None or roles.passes == run.micro_steps or roles.passes < 1:
        return run
    roles.deciding[PASSES] = None
    total = roles.passes * run.world_size
    return run.having(gradient_accumulation_steps=total, dialect=Dialect.TOTAL, simulated_gpus=1)


class _Settling:
    def __init__(
        self,
        settings: dict[str, Setting],
        project: Project,
        overridden: Collection[str],
    ) -> None:
        self._settings = settings
        self._project = project
        self._script = project.train_script or Path("train.py")
        self._overridden = overridden
        self._doubts: list[Doubt] = []
        self._deciding: dict[str, str | None] = {}
        self._files: dict[int | str, Origin] = {}  # whence a vocabulary is, or why it is unknown
        self._taken: dict[tuple[str, int], list[str]] = {}  # why, and where: roles in doubt
        self.around: Surroundings | None = None

    def roles(self) -> Roles:
        passed = self._passed()
        self._model(passed)
        self._missing(passed)
        self._shape(passed)
        self._batch(passed)
        passes = self._passes(passed)
        if passed.unevaluated:
            text = "the number includes an evaluation that this run never makes"
            self._doubt(Subject.PIECE, text, passed.unevaluated)
        for (why, line), roles in self._taken.items():
            self._doubt(Subject.SIZES, f"{why}; assuming {listed(roles)}", line)
        return Roles(self._deciding, passes, tuple(self._doubts))

    def _passed(self) -> Passed:
        project, around = self._project, self.around
        if project.tree is None or project.configurator is None or around is None:
            return Passed(Mystery("the script was not read"))
        settings = {
            key: setting
            for key, setting in self._settings.items()
            if setting.origin.layer is not Layer.DEFAULT
        }
        # What a checkpoint forces is settled elsewhere: followed is a run from scratch.
        scratch = Setting("init_from", Known("scratch"), Origin(Layer.DEFAULT))
        try:
            return follow(
                project.tree,
                project.configurator,
                project.environment,
                {**settings, "init_from": scratch},
                ROLES,
                around,
            )
        except RecursionError:
            return Passed(Mystery("the script is nested too deeply"))

    def _model(self, passed: Passed) -> None:
        if isinstance(passed.model, Mystery):
            text = f"the model that {self._script.name} builds is not known: {passed.model.reason}"
            self._doubt(Subject.MODEL, text, passed.model.line)

    def _missing(self, passed: Passed) -> None:
        """What the script has no key for: set below its settings, or not at all."""
        for key in ROLES:
            if key in self._settings or (key in SHAPE and isinstance(passed.model, Named)):
                continue
            thing = passed.names.get(key, ABSENT)
            if key == "init_from":
                self._settings[key] = self._own(key, Known("scratch"))
            elif thing == ABSENT and self._is_off(key):
                self._settings[key] = self._own(key, Known(value=False))
            else:
                self._set(key, thing)

    def _is_off(self, key: str) -> bool:
        """Whether a script that knows nothing of ``key`` does without what it switches on."""
        return key == "eval_only" or (key == "compile" and not self._project.compiles)

    def _shape(self, passed: Passed) -> None:
        """The sizes that the model is built with."""
        forced = self._settings["init_from"].value
        if isinstance(forced, Known) and forced.value in PRETRAINED_SIZES:
            for role in SHAPE:
                if role not in self._settings:  # and which no checkpoint sets
                    self._set(role, self._unpassed())
            return
        defaults: Mapping[str, Plain] = {}
        if isinstance(passed.model, Named) and passed.config is not None:
            defaults = defaults_of(self._script, passed.model.name, passed.config)
        for role in SHAPE:
            if role in self._overridden and role == "vocab_size":
                continue
            thing = passed.shape.get(role)
            if thing is None and passed.rest is None and role in defaults:
                thing = Just(defaults[role])
            if thing is not None:
                self._set(role, thing)
            elif isinstance(passed.model, Named):
                self._set(role, passed.rest or self._unpassed())
            else:
                self._assumed(role)

    def _unpassed(self) -> Mystery:
        return Mystery(f"{self._script.name} passes none to its model")

    def _assumed(self, role: str) -> None:
        """A size of a model whose making is not found: the key of its name, if there is one."""
        why = "the arguments of the model are not known"
        if role in self._project.defaults:
            self._take(role, why, 0)
        elif role == "vocab_size":
            self._set(role, Mystery(why))

    def _batch(self, passed: Passed) -> None:
        """The shape of a batch: what get_batch makes, else what the keys of those names say."""
        none = Mystery(f"{self._script.name} has no get_batch")
        for role, thing in zip(BATCH, passed.batch or (none, none), strict=True):
            if isinstance(thing, Just):
                self._check_context(role, thing)
                self._set(role, thing)
            elif isinstance(thing, Mystery) and isinstance(self._settings[role].value, Known):
                why = f"the shape of a batch is not known: {thing.reason}"
                self._take(role, why, thing.line)

    def _take(self, role: str, why: str, line: int) -> None:
        """Keep what the key ``role`` says, although that is in doubt."""
        self._taken.setdefault((why, line), []).append(role)

    def _check_context(self, role: str, thing: Just) -> None:
        """The context of the batch and that of the model are two things where they differ."""
        if role != "block_size":
            return
        built = self._settings[role].value
        if isinstance(built, Unknown):
            text = f"the context length of the model is not known: {built.reason}"
            self._doubt(Subject.SIZES, text, 0)
        elif built.value != thing.value:
            text = f"the model is built for {built.value} tokens, but a batch has {thing.value}"
            self._doubt(Subject.SIZES, text, 0)

    def _passes(self, passed: Passed) -> int | None:
        thing = passed.passes
        if isinstance(thing, Just) and isinstance(thing.value, int):
            own = thing.key in (PASSES, None) and PASSES in self._project.defaults
            if not own:
                self._deciding[PASSES] = thing.key
            return thing.value
        if isinstance(thing, Mystery) and not isinstance(self._settings[PASSES].value, Unknown):
            text = f"the number of passes per step is not known: {thing.reason}"
            self._doubt(Subject.SIZES, text, thing.line)
        return None

    # Values

    def _set(self, role: str, thing: Thing) -> None:
        before = self._settings.get(role)
        if isinstance(thing, Just):
            if thing.key == role and before is not None and before.value == Known(thing.value):
                return
            self._deciding[role] = thing.key
            self._settings[role] = Setting(role, Known(thing.value), self._origin(role, thing))
        elif isinstance(thing, Mystery):
            if before is not None and isinstance(before.value, Unknown) and not thing.line:
                return  # the setting's own reason
            where = f" ({self._script.name}:{thing.line})" if thing.line else ""
            origin = self._files.get(thing.reason, Origin(Layer.TRAIN_SCRIPT, self._script))
            self._deciding[role] = None
            self._settings[role] = Setting(role, Unknown(f"{thing.reason}{where}"), origin)
        elif isinstance(thing, Built):
            self._set(role, Mystery(f"calls {thing.callee} at run time", thing.line))
        else:
            self._set(role, Mystery("not a plain value"))

    def _origin(self, role: str, thing: Just) -> Origin:
        if thing.key in self._settings:
            return self._settings[thing.key].origin
        if role == "vocab_size" and isinstance(thing.value, int) and thing.value in self._files:
            return self._files[thing.value]
        return Origin(Layer.TRAIN_SCRIPT, self._project.train_script)

    def _own(self, key: str, value: Known | Unknown) -> Setting:
        return Setting(key, value, Origin(Layer.TRAIN_SCRIPT, self._project.train_script))

    def _doubt(self, subject: Subject, text: str, line: int) -> None:
        self._doubts.append(Doubt(subject, text, self._script, line or None))

    # Files

    def _given(self, path: str) -> bool:
        """True if --set has given what the description of the data at ``path`` says."""
        return Path(path).name == META and is_told(self._settings, self._project)

    def exists(self, path: str) -> Just | Mystery:
        if self._given(path):
            return Just(True)
        found, doubt = whether_it_exists(path, self._project.root)
        if doubt is not None:
            self._doubts.append(doubt)
        return Just(found.value) if isinstance(found, Known) else Mystery(found.reason)

    def vocabulary(self, path: str) -> Just | Mystery:
        found, origin = pickled_vocabulary(path, self._project.root)
        if self._given(path):
            given = self._settings[VOCABULARY]
            found, origin = given.value, given.origin
        if isinstance(found, Known) and isinstance(found.value, int):
            self._files[found.value] = origin
            return Just(found.value)
        reason = found.reason if isinstance(found, Unknown) else "not a size"
        self._files[reason] = origin
        return Mystery(reason)


MOST_HOPS = 4  # from module to module, until the class is defined


@memo
def defaults_of(script: Path, model: str, config: str) -> Mapping[str, Plain]:
    """The fields of the class with the full name ``config`` that have a plain default.

    It is looked for beside the class ``model`` (``model.GPT``), which ``script`` builds. Empty
    where it is not found.
    """
    module, _, name = model.rpartition(".")
    path = file_of(module, script)
    if path is None:
        return {}
    try:
        _, tree = defined(path, name)
        return _fields(tree, config.rpartition(".")[2])
    except (Unusable, RecursionError):
        return {}


def file_of(module: str, script: Path) -> Path | None:
    """Where ``module`` is imported from by ``script``; the script itself for no module."""
    if not module:
        return script
    parts = [part for part in module.split(".") if part]
    for folder in (script.parent, script.parent.parent):
        for path in (
            folder.joinpath(*parts).with_suffix(".py"),
            folder.joinpath(*parts) / "__init__.py",
        ):
            if is_file(path):
                return path
    return None


def defined(path: Path, name: str) -> tuple[Path, ast.Module]:
    """The file that defines the class, and its tree; raises Unusable."""
    for _ in range(MOST_HOPS):
        tree = syntax_tree(read_source(path))
        if any(isinstance(node, ast.ClassDef) and node.name == name for node in tree.body):
            break
        onward = next(
            (
                node.module
                for node in tree.body
                if isinstance(node, ast.ImportFrom)
                and node.module
                and any((alias.asname or alias.name) == name for alias in node.names)
            ),
            None,
        )
        further = file_of(onward, path) if onward else None
        if further is None or further == path:
            break
        path = further
    return path, tree


def _fields(tree: ast.Module, name: str) -> dict[str, Plain]:
    """The fields of a class of configuration that have a plain default."""
    from nanolint.source.parse import parse

    fields: dict[str, Plain] = {}
    for node in tree.body:
        if not isinstance(node, ast.ClassDef) or node.name != name:
            continue
        for entry in node.body:
            target = entry.targets[0] if isinstance(entry, ast.Assign) else None
            target = entry.target if isinstance(entry, ast.AnnAssign) else target
            if isinstance(target, ast.Name) and isinstance(entry, (ast.Assign, ast.AnnAssign)):
                value = ast.unparse(entry.value) if entry.value is not None else "unset"
                known = parse(f"value = {value}\n").final.get("value")
                if isinstance(known, Known):
                    fields[target.id] = known.value
        if not node.decorator_list:
            fields |= _of_dataclasses(tree, node)
    return fields


def _of_dataclasses(tree: ast.Module, node: ast.ClassDef) -> dict[str, Plain]:
    """What the dataclasses give that a class without a decorator extends: their ``__init__`` is
    its own, so their values stand where it has others."""
    found: dict[str, Plain] = {}
    names = {each.id for each in node.bases if isinstance(each, ast.Name)} - {node.name}
    for each in tree.body:
        if isinstance(each, ast.ClassDef) and each.name in names and each.decorator_list:
            found |= _fields(tree, each.name)
    return found
