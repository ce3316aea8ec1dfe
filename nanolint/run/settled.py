"""Settled values with their origin, and what a resolution yields."""

from __future__ import annotations

from dataclasses import field, replace
from enum import Enum
from typing import TYPE_CHECKING

from nanolint.frozen import dataclass
from nanolint.run.flags import LaunchLine
from nanolint.run.program import Profiled
from nanolint.run.run import Dialect
from nanolint.run.trust import Doubt, Subject, Trust
from nanolint.run.variables import telling

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Iterator, Mapping, Set
    from pathlib import Path

    from nanolint.diagnostics import Span
    from nanolint.run.described import Described
    from nanolint.run.equation import Equation
    from nanolint.run.run import Run
    from nanolint.run.stop import Stop
    from nanolint.source.values import Plain, Value


NO_LINE = LaunchLine()


class Layer(str, Enum):
    """Where a value came from, lowest precedence first."""

    DEFAULT = "nanoGPT's default"
    TRAIN_SCRIPT = "train script"
    IMPORT = "imported config"
    LAUNCHED = "other config of the launch line"
    FILE = "file"
    OVERRIDE = "command line"
    DATASET = "dataset"
    CHECKPOINT = "checkpoint"
    GPU = "target GPU"


@dataclass(frozen=True, slots=True)
class Origin:
    """The place that gave a key its value.

    ``span`` is set only for Layer.FILE, and for a flag in the text of a launch line.
    """

    layer: Layer
    path: Path | None = None
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Setting:
    """A key, its value after all layers, and the layer that won."""

    key: str
    value: Value
    origin: Origin


THE_RUN = "the run"  # what no script makes that fails before it has trained
LAUNCH_LINE = "the launch line"  # that starts what cannot be
MEMORY = "the memory"  # what is not known of a run that cannot be read
THE_MODEL = "the model"  # that is no class of the project, before it is read


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A key that the memory replay needs, and why its value is of no use.

    Only a run could tell the value; or it is known and ``impossible``: no run can have it.
    ``name`` is what people call it, where the script has no such key. Where it is ``untraced``,
    tracing gives no number either. ``stop`` is how the run fails, if it is the run that cannot be.
    """

    key: str
    reason: str
    impossible: bool = False
    name: str = ""
    untraced: bool = False
    stop: Stop | None = None

    @property
    def words(self) -> str:
        """The value for people."""
        return self.name or self.key


def nowhere(_key: str) -> str | None:
    """No other script has a key."""
    return None


@dataclass(frozen=True, slots=True)
class Project:
    """What surrounds a config: its train.py, model.py and dataset folder.

    ``defaults`` are the globals of train.py above its configurator line (nanoGPT's own when there
    is no train.py). ``settings_end`` is the character offset of that line in train.py, ``tree`` its
    syntax tree and ``configurator`` the place of that statement in it.
    ``simulated_gpus`` is what train.py multiplies the accumulation by where it runs without DDP.
    ``environment`` adds the names that a config may read because train.py runs it with ``exec``
    in its own globals. ``doubts`` are what is not known of the script that runs the config, of
    its model and of its loop: with any, memory findings are warnings and their fixes unsafe.
    ``known_keys`` are all keys that any script of the project lets a config set; ``names_read``
    are the names that those scripts read anywhere, for a config may set one without a default.
    ``elsewhere`` names another training script, for a key that only such a one has and none of
    nanoGPT's. Each reads the other scripts where train.py alone does not answer.
    ``open_choices`` are keys for which train.py takes any text at all.
    ``problems`` say in a line each why a file around the config was not used.
    ``rivals`` are other scripts that may run the config as well, where that is a doubt.
    """

    root: Path | None
    train_script: Path | None
    defaults: Mapping[str, Value]
    environment: Mapping[str, Value]
    known_keys: Set[str]
    dialect: Dialect = Dialect.TOTAL
    doubts: tuple[Doubt, ...] = ()
    compile_mode: str | None = None  # torch.compile(mode=...), None for the default
    counts_emulation: bool = True  # how train.py asks whether the card has bfloat16
    names_read: Set[str] = frozenset()
    elsewhere: Callable[[str], str | None] = nowhere
    simulated_gpus: int = 1
    settings_end: int | None = None
    open_choices: frozenset[str] = frozenset()
    tree: ast.Module | None = None
    configurator: int | None = None
    compiles: bool = True  # train.py calls torch.compile somewhere
    problems: tuple[str, ...] = ()
    unusable: str | None = None  # why the script that was found tells nothing of its runs
    foreign: bool = False  # the train.py that was found runs no configs of nanoGPT's kind
    rivals: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Rivals:
    """Other scripts that may run a config: the doubt about it, and what each would make of it."""

    doubt: Doubt
    resolved: Callable[[], tuple[Resolution, ...]]


@dataclass(frozen=True, slots=True)
class Resolution:
    """A config resolved for one target GPU.

    ``run`` is None exactly when ``unresolved`` is not empty. ``settings`` holds nanoGPT's keys,
    those of the project and of the file, and ``vocab_size``. ``doubts`` are what the run rests on
    and is not known, those that matter most first. ``in_float16``: the settings say bfloat16, which
    the card only emulates, and the run is the one in float16 that takes its place (NL203).
    ``deciding`` maps a role (the name of nanoGPT's key for it) to the key that its value comes from
    in this project, None where the script computes it: roles that are not in it come from the key
    of their own name. ``outline`` is the run as far as its batch and its loop are known, with legal
    values for the rest; None where not even that is. ``described`` is what a script says of its run
    that is not nanoGPT's kind. ``read`` is what it is with its script, or the model of it, read,
    where that may be tried. ``rivals`` are the runs that other scripts would make of the config.
    ``left_open`` is what its number leaves open, where the verdict is the same either way.
    ``stop`` is what ends the run after its first steps, whose number is right until then.
    """

    run: Run | None
    settings: Mapping[str, Setting]
    unresolved: tuple[Unresolved, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    in_float16: bool = False
    deciding: Mapping[str, str | None] = field(default_factory=dict)
    described: Described | None = None
    outline: Run | None = None
    read: Resolution | None = None
    rivals: Rivals | None = field(default=None, compare=False, repr=False)
    left_open: tuple[str, ...] = ()
    stop: Stop | None = None

    @property
    def trust(self) -> Trust:
        """How far numbers for this run are to be believed; UNKNOWN: there are none."""
        if self.run is None:
            return Trust.UNKNOWN
        if self.doubts:
            return Trust.DOUBTED
        if isinstance(self.run.program, Profiled):
            return Trust.TRACED
        return Trust.EXACT if self.run.program is None else Trust.READ

    @property
    def as_set(self) -> Run | None:
        """The run that its settings say, whether its script can be read or not; None where one of
        them is not known."""
        unknown = [each.key for each in self.unresolved if each.key != MEMORY]
        return None if unknown else self.run or self.outline

    @property
    def equation(self) -> Equation | None:
        """How large a step of a script is that is not of nanoGPT's kind; None where it is, or where
        that is not known."""
        return None if self.described is None else self.described.equation

    @property
    def provenance(self) -> str | None:
        """Where its tape is from; None where that is nanolint's own text of nanoGPT's.

        ``traced 2026-11-20 with torch 2.13.0``, ``read from model.py``
        """
        program = None if self.run is None else self.run.program
        if isinstance(program, Profiled):
            profile = program.profile
            return f"traced {profile.traced} with torch {profile.torch.partition('+')[0]}"
        return None if program is None else f"read from {program.modules[0].path}"

    @property
    def why_unknown(self) -> str:
        """Which keys keep the run from being known, and why, in a line; empty where it is known.

        ``not known before the run: batch_size, block_size (read from os.environ)``
        """
        keys: dict[tuple[bool, str], list[str]] = {}
        for each in self.unresolved:
            keys.setdefault((each.impossible, each.reason), []).append(each.words)
        clauses: dict[bool, list[str]] = {}
        for (impossible, reason), named in keys.items():
            clauses.setdefault(impossible, []).append(f"{', '.join(named)} ({reason})")
        heads = {False: "not known before the run", True: "not possible"}
        return "; ".join(f"{heads[wrong]}: {', '.join(parts)}" for wrong, parts in clauses.items())

    def of_role(self, name: str) -> Setting | None:
        """What decides the role of nanoGPT's key ``name``, by the key that it has here.

        A script may give values of one name in many places, of which ``settings`` has the last.
        """
        key = self.deciding.get(name) or name
        if self.described is None:
            return self.settings.get(key)
        setting = self.settings.get(name)
        return None if setting is None else replace(setting, key=key)

    def known(self, key: str) -> Plain:
        """The plain value of ``key``; raises KeyError when it is absent or unknown."""
        from nanolint.source.values import Known

        value = self.settings[key].value
        if not isinstance(value, Known):
            raise KeyError(key)
        return value.value


@dataclass(frozen=True, slots=True)
class Override:
    """``--key=value`` on a launch line; not ``dashed`` where it is ``key=value`` there.

    ``place`` is where it stands in the text of a script, ``value_place`` where the value alone
    does, if it stands there as it is. ``in_config``: it is a line of a config that stands in that
    text, which may set any name to a value of any type.
    """

    key: str
    value: Value
    place: Span | None = None
    value_place: Span | None = None
    in_config: bool = False
    dashed: bool = True


@dataclass(frozen=True, slots=True)
class Options:
    """What the user said outside the file.

    ``arguments`` are what the launch line gives the script, in the order in which it reads them;
    a file that is not among them comes before them. ``overrides`` come last, in their order.
    ``world_size_doubt`` says why the number of processes is not known for certain; with
    ``every_card`` it is that of the cards in the machine, which may be known. ``scripts`` are
    the launch scripts that were named, wherever they lie. ``line`` is the launch line as a script
    reads it that takes flags as argparse does. ``ranked`` is whether the launcher tells a process
    its RANK, even where there is but one; ``local_ranks`` is how many processes the launcher starts
    on one machine, None if nobody says it; ``spread`` is whether a launcher starts them that does
    not say it. ``torch_version`` is the release that is judged for,
    None for the newest; ``oldest_torch`` is the oldest that the project allows. ``native`` says
    what packages of the project change in PyTorch's own kernels; ``older_transformers`` says which
    file of it asks for a release before the one that is known.
    """

    arguments: tuple[Path | Override, ...] = ()
    overrides: tuple[tuple[str, Value], ...] = field(default=())
    world_size: int | None = None
    world_size_doubt: str | None = None
    every_card: bool = False
    ranked: bool = False
    local_ranks: int | None = None
    spread: bool = False
    torch_version: tuple[int, int] | None = None
    oldest_torch: tuple[int, int] | None = None
    native: tuple[str, ...] = ()
    older_transformers: str | None = None
    scripts: tuple[Path, ...] = ()
    line: LaunchLine = NO_LINE

    def without_card(self, cards: int | None) -> Unresolved | None:
        """Why the run cannot be, if a machine with so many cards has none for some processes."""
        ranks = self.local_ranks
        if cards is None or ranks is None or ranks <= cards:
            return None
        which = f"ranks {cards} to {ranks - 1} find" if ranks - 1 > cards else f"rank {cards} finds"
        why = f"starts {ranks} processes on a machine of {cards}: {which} no card"
        return Unresolved(LAUNCH_LINE, why, impossible=True)

    def in_doubt(self, world_size: int, cards: int | None) -> Iterator[Doubt]:
        """What is not certain of the processes, on a machine of so many cards."""
        if self.world_size_doubt is not None and not (self.every_card and cards is not None):
            why = f"assuming world size {world_size}: {self.world_size_doubt}"
            yield Doubt(Subject.PROCESSES, why)
        if self.spread and cards is not None and world_size > cards:
            why = f"{world_size} processes are more than the {cards} cards of one machine"
            yield Doubt(Subject.PROCESSES, f"{why}; assuming several machines")
        for why in self.native:
            yield Doubt(Subject.TORCH, why)
        for name, _ in telling(self.line):
            yield Doubt(Subject.ENVIRONMENT, f"the effect of {name} on PyTorch is not known")
