"""``nanolint trace``: the user's own script on the user's own PyTorch, without a card."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import shlex
import shutil
import sys
from argparse import ArgumentTypeError
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nanolint.cli.launch import split_launch
from nanolint.cli.options import add_settings_options
from nanolint.cli.parser import Parser, UsageError, positive
from nanolint.cli.streams import printer
from nanolint.files.repository import upward

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Sequence

    from nanolint.cli.streams import Streams
    from nanolint.gpus.gpu import Machine
    from nanolint.trace.launch import Command
    from nanolint.trace.process import PretendedCard, Request
    from nanolint.trace.traced import Traced
    from nanolint.trace.verdict import TracedVerdict

DESCRIPTION = """\
Run a training script to its third optimizer step on a CUDA that only counts, and tell where its
memory would go on a card. It needs Linux, a CUDA build of PyTorch and cc; no GPU, and none that is
there is used. It is the only command that runs your code: without network, and without writing.

  nanolint trace --gpu rtx-4070 -- python train.py config/train_shakespeare_char.py
  nanolint trace --python .venv/bin/python -- torchrun --nproc_per_node=8 -m scripts.base_train"""

DEFAULT_SECONDS, DEFAULT_HOST_GIB = 600, 8
DEFAULT_TRACES = 60
QUESTION = """\
nanolint trace runs the code of {folder}, with its files and the network out of reach.
Run it? [y/N] """


def run(arguments: list[str], streams: Streams) -> int:
    """Trace the command behind ``--``; returns the exit status."""
    given, words = split_launch(arguments)
    options = _parser().parse(given, streams)
    if not words:
        raise UsageError("the command stands after --, as in: nanolint trace -- python train.py")
    if not sys.platform.startswith("linux"):
        raise UsageError("nanolint trace needs Linux: CUDA's library is stood in for by the loader")
    from nanolint.cli.configuration import Configuration
    from nanolint.trace.launch import read_command
    from nanolint.trace.verdict import TracedVerdict

    command = read_command(shlex.split(words[0]) if len(words) == 1 else words)
    folder = Path.cwd()
    if not command.module and not Path(command.argv[0]).is_file():
        raise UsageError(f"{command.argv[0]}: no such file")
    if options.before is not None and not options.before.is_file():
        raise UsageError(f"--before: {options.before}: no such file")
    machines = Configuration(options).plan_of(folder).setup(folder / command.argv[0]).targets
    if options.format == "json" and options.try_values is not None:
        raise UsageError("--try prints text; leave --format json out")
    if options.format == "json" and len(machines) > 1:
        raise UsageError("--format json takes one GPU; choose one with --gpu")
    if options.profile and (options.format == "json" or options.try_values or options.snapshot):
        raise UsageError("--profile goes without --format json, --try and --snapshot")
    _ask(folder, streams, allowed=options.yes)
    world = options.world_size or command.world_size or 1
    request = _request(command, options, folder, world)
    if options.profile:
        _profiles(shlex.join(words), request, machines, world, options, streams)
        return 0
    traces: dict[PretendedCard, Traced] = {}
    verdicts = []
    for machine in machines or (None,):
        card = _card(machine, world)
        if card not in traces:
            traces[card] = _trace(replace(request, card=card), options, streams)
        if machine is not None:
            verdicts.append(TracedVerdict(traces[card], machine, world))
    _tell(shlex.join(words), traces, verdicts, world, options, streams)
    if options.try_values is not None:
        first = machines[0] if machines else None
        _try(replace(request, card=_card(first, world)), first, world, options, streams)
    return 0


def _parser() -> Parser:
    parser = Parser("nanolint trace", "[OPTION]... -- COMMAND...", DESCRIPTION)
    parser.add_argument(
        "--python", metavar="PATH", help="the interpreter that has your PyTorch (default: the one "
        "in the command, .venv, or VIRTUAL_ENV, else python3)",
    )  # fmt: skip
    parser.add_argument(
        "--before", type=Path, metavar="FILE", help="Python to run first: stand-ins for data, "
        "downloads, tokenizers",
    )  # fmt: skip
    parser.add_argument("--steps", type=positive, default=3, metavar="N",
                        help="optimizer steps to run (default: 3)")  # fmt: skip
    parser.add_argument("--timeout", type=positive, default=DEFAULT_SECONDS, metavar="SECONDS",
                        help=f"stop after so long (default: {DEFAULT_SECONDS})")  # fmt: skip
    parser.add_argument("--host-memory", type=positive, default=DEFAULT_HOST_GIB, metavar="GIB",
                        help=f"stop at so much (default: {DEFAULT_HOST_GIB})")  # fmt: skip
    parser.add_argument("--yes", action="store_true", help="do not ask before running the code")
    parser.add_argument(
        "--unprotected", action="store_true", help="run it even where the system cannot keep it "
        "from the network and from your files",
    )  # fmt: skip
    parser.add_argument(
        "--try", type=_tried, dest="try_values", metavar="KEY=N,N",
        help="trace it with these values of an option of the script, too: batch_size=8,4",
    )  # fmt: skip
    parser.add_argument(
        "--profile", action="store_true", help="trace it at several micro-batches, and write what "
        "they have in common to .nanolint/, where the other commands find it",
    )  # fmt: skip
    parser.add_argument("--most-traces", type=positive, default=DEFAULT_TRACES, metavar="N",
                        help=f"for a profile, at most (default: {DEFAULT_TRACES})")  # fmt: skip
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.add_argument(
        "--snapshot", type=Path, metavar="OUT.pickle",
        help="write the allocator's history for pytorch.org/memory_viz",
    )  # fmt: skip
    parser.add_argument("--color", choices=("auto", "always", "never"), default="auto")
    group = parser.add_argument_group("the machine")
    group.add_argument("--gpu", action="append", metavar="NAME|SIZE|auto",
                       help="target GPU; repeatable, each is judged")  # fmt: skip
    group.add_argument("--in-use", metavar="SIZE", help="memory that other programs hold: 2GiB")
    group.add_argument("--world-size", type=positive, metavar="N", help="number of processes")
    group.add_argument("--platform", choices=("linux", "windows", "wsl"))
    group.add_argument("--allocator", choices=("default", "expandable"))
    add_settings_options(parser)
    return parser


def _tried(text: str) -> tuple[str, tuple[str, ...]]:
    """``batch_size=8,4`` as a key and its values."""
    key, _, values = text.partition("=")
    found = tuple(value.strip() for value in values.split(",") if value.strip())
    if not (key.strip("-") and found):
        raise ArgumentTypeError(f"{text!r} is not a key and its values, as batch_size=8,4")
    return key.lstrip("-"), found


def _profiles(
    words: str,
    request: Request,
    machines: Sequence[Machine],
    world: int,
    options: Namespace,
    streams: Streams,
) -> None:
    """Write a profile for each sort of card."""
    from nanolint.cli.profile import Profiler, config_of, profile
    from nanolint.report.profile import written
    from nanolint.trace.process import Tracer

    config = config_of(words, options, streams)
    cards = {_card(machine, world): machine for machine in machines or (None,)}
    for card, machine in cards.items():
        count = itertools.count(1)
        with Tracer(replace(request, card=card), cache_folder()) as tracer:

            def trace(argv: Sequence[str], tracer: Tracer = tracer) -> Traced:
                show = _shown(streams, f"trace {next(count)}: ")  # noqa: B023 (called in the loop)
                return _checked(tracer(argv, show), request.python)

            try:
                profiler = Profiler(config, machine, request.argv, trace)
                path, found, complete = profile(words, profiler, card, options.most_traces)
            finally:
                _hide(streams)
        written(path, found, printer(streams.stdout, options.color), complete=complete)


def _try(
    request: Request, machine: Machine | None, world: int, options: Namespace, streams: Streams
) -> None:
    """Trace the other values, and tell of each what it needs and whether it fits."""
    from nanolint.cli.profile import with_value
    from nanolint.report.traced import tried
    from nanolint.trace.verdict import TracedVerdict

    key, values = options.try_values
    rows = []
    for value in values:
        changed = replace(request, argv=with_value(request.argv, key, value))
        traced = _trace(changed, options, streams)
        verdict = TracedVerdict(traced, machine, world) if machine is not None else None
        rows.append((f"--{key}={value}", traced, verdict))
    tried(rows, printer(streams.stdout, options.color))


def cache_folder() -> Path:
    """Where the library is kept, and which projects may be run."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "nanolint"


def _ask(folder: Path, streams: Streams, *, allowed: bool) -> None:
    """Once for each project; refuse where nobody can be asked."""
    digest = hashlib.sha256(os.fsencode(folder)).hexdigest()[:32]
    marker = cache_folder() / "trace" / "allowed" / digest
    if allowed or marker.exists():
        return
    if not streams.stdin.isatty():
        raise UsageError("trace runs the project's code, and nobody is there to ask: add --yes")
    streams.stderr.write(QUESTION.format(folder=folder))
    streams.stderr.flush()
    if streams.stdin.readline().strip().lower() not in ("y", "yes"):
        raise UsageError("not run")
    marker.parent.mkdir(parents=True, exist_ok=True)
    marker.write_text(str(folder), encoding="utf-8")


def _request(command: Command, options: Namespace, folder: Path, world: int) -> Request:
    from nanolint.trace.process import Request

    return Request(
        python=options.python or command.python or _usual_python(folder),
        argv=command.argv,
        module=command.module,
        before=options.before and options.before.resolve(),
        world_size=world,
        steps=options.steps,
        seconds=options.timeout,
        host_bytes=options.host_memory << 30,
        environment=dict(command.environment),
        protected=not options.unprotected,
        folder=folder,
    )


def _usual_python(folder: Path) -> str:
    """The project's own: of its .venv, or of the environment that is active."""
    for ancestor in upward(folder):
        if (ancestor / ".venv" / "bin" / "python").exists():
            return str(ancestor / ".venv" / "bin" / "python")
    active = os.environ.get("VIRTUAL_ENV")
    if active:
        return str(Path(active) / "bin" / "python")
    return shutil.which("python3") or sys.executable


def _card(machine: Machine | None, world: int) -> PretendedCard:
    from nanolint.trace.process import PretendedCard

    usual = PretendedCard(count=world)
    if machine is None:
        return usual
    gpu = machine.gpu
    return PretendedCard(
        name=gpu.name,
        total_bytes=gpu.total_bytes,
        compute_capability=gpu.compute_capability or usual.compute_capability,
        sm_count=gpu.sm_count or usual.sm_count,
        count=world,
    )


def _trace(request: Request, options: Namespace, streams: Streams) -> Traced:
    """One trace, with a line of progress on a terminal."""
    from nanolint.trace import process

    show = _shown(streams)
    try:
        if options.snapshot is not None:
            with options.snapshot.open("wb") as file:
                told = process.trace(request, cache_folder(), show, file)
        else:
            told = process.trace(request, cache_folder(), show)
    except OSError as error:
        raise UsageError(f"{error.filename}: {error.strerror}") from error
    finally:
        _hide(streams)
    return _checked(told, request.python)


def _checked(told: dict[str, Any], python: str) -> Traced:
    """What was told, if the script came to an optimizer step."""
    from nanolint.trace.failures import explained
    from nanolint.trace.traced import read

    traced = read(told)
    if not traced.complete:
        raise UsageError(explained(traced, python))
    return traced


def _shown(streams: Streams, before: str = "") -> Callable[[str, int], None]:
    """What shows on a terminal how far a trace is."""
    from nanolint.report.traced import progress

    def show(phase: str, step: int) -> None:
        if streams.progress.isatty():
            streams.progress.write(f"\r\x1b[K{before}{progress(phase, step)}")
            streams.progress.flush()

    return show


def _hide(streams: Streams) -> None:
    if streams.progress.isatty():
        streams.progress.write("\r\x1b[K")


def _tell(
    words: str,
    traces: dict[PretendedCard, Traced],
    verdicts: list[TracedVerdict],
    world: int,
    options: Namespace,
    streams: Streams,
) -> None:
    from nanolint.report import traced as report

    first = next(iter(traces.values()))
    if options.format == "json":
        found = report.as_json(words, first, verdicts[0] if verdicts else None)
        streams.stdout.write(json.dumps(found, indent=2) + "\n")
        return
    out = printer(streams.stdout, options.color)
    for traced in traces.values():
        own = [verdict for verdict in verdicts if verdict.traced is traced]
        if traced is not first:
            out.blank()
        report.render(words, traced, own, world, out)
    if options.snapshot is not None:
        streams.warn(f"Wrote {options.snapshot}.")
