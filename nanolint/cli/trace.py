"""``nanolint trace`` and its options: the user's script on the user's PyTorch, without a card."""

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

from nanolint.cli.explain_files import check_picture, draw_into
from nanolint.cli.launch import split_launch
from nanolint.cli.options import add_settings_options
from nanolint.cli.parser import Parser, UsageError, positive
from nanolint.cli.streams import printer
from nanolint.files.cache import usual_folder
from nanolint.files.repository import upward

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Sequence

    from nanolint.cli.streams import Streams
    from nanolint.gpus.gpu import Machine
    from nanolint.trace.launch import Command
    from nanolint.trace.process import Asked, PretendedCard, Request
    from nanolint.trace.traced import Traced
    from nanolint.trace.verdict import TracedVerdict

STEPS_OF_A_PROFILE = 3  # the same for each trace: the optimizer's state is there from the second on
QUESTION = """\
nanolint trace runs the code of {folder} with its interpreter {python}.
{protection}
Run it? [y/N] """
PROTECTED = """\
It has no network and no sockets. nanolint discards the files that it writes.
It can read every file that you can read."""
UNPROTECTED = """\
--unprotected: it can use the network, and change and delete your files."""


def run(arguments: list[str], streams: Streams) -> int:
    """Trace the command behind ``--``; returns the exit status."""
    given, words = split_launch(arguments)
    options = parser().parse(given, streams)
    if not words:
        raise UsageError("put the command after --, as in: nanolint trace -- python train.py")
    if not sys.platform.startswith("linux"):
        raise UsageError("nanolint trace needs Linux, whose loader can replace CUDA's library")
    from nanolint.cli.configuration import Configuration
    from nanolint.report.picture import subject_of_tape
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
        raise UsageError("--try prints text; leave out --format json")
    if options.format == "json" and len(machines) > 1:
        raise UsageError("--format json takes one GPU; choose one with --gpu")
    if options.plot is not None:
        check_picture(options.plot)
        if len(machines) > 1:
            raise UsageError("--plot takes one GPU; choose one with --gpu")
    if options.profile and (
        options.format == "json" or options.try_values or options.snapshot or options.plot
    ):
        raise UsageError(
            "--profile cannot be combined with --format json, --try, --snapshot or --plot"
        )
    world = options.world_size or command.world_size or 1
    request = _request(command, options, folder, world)
    _ask(request, streams, allowed=options.yes)
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
    if options.plot is not None:
        first, verdict = next(iter(traces.values())), next(iter(verdicts), None)
        name = " ".join(Path(word).name for word in words)
        draw_into(options.plot, lambda: subject_of_tape(first.tape, name, verdict))
        streams.warn(f"Wrote {options.plot}.")
    if options.try_values is not None:
        machine = machines[0] if machines else None
        _try(replace(request, card=_card(machine, world)), machine, world, options, streams)
    return 0


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
    from nanolint.report.traced import written
    from nanolint.trace.process import Tracer

    config = config_of(words, options, streams)
    cards = {_card(machine, world): machine for machine in machines or (None,)}
    request = replace(request, steps=request.steps or STEPS_OF_A_PROFILE)
    for card, machine in cards.items():
        count = itertools.count(1)
        tracer = Tracer(replace(request, card=card), usual_folder())

        def trace(asked: Asked, tracer: Tracer = tracer) -> Traced:
            show = _shown(streams, f"trace {next(count)}: ")  # noqa: B023 (called in the loop)
            return _checked(tracer(asked, show), request.python)

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


def _ask(request: Request, streams: Streams, *, allowed: bool) -> None:
    """Once for each project, interpreter and protection; refuse where nobody can be asked."""
    from nanolint.report.printer import printable

    asked = f"{request.folder}\n{request.python}\n{request.protected}"
    digest = hashlib.sha256(os.fsencode(asked)).hexdigest()[:32]
    marker = usual_folder() / "trace" / "allowed" / digest
    if allowed or marker.exists():
        return
    if not streams.stdin.isatty():
        raise UsageError("trace runs the project's code and cannot ask for consent here: add --yes")
    protection = PROTECTED if request.protected else UNPROTECTED
    folder, python = (printable(str(each)) for each in (request.folder, request.python))
    streams.stderr.write(QUESTION.format(folder=folder, python=python, protection=protection))
    streams.stderr.flush()
    if streams.stdin.readline().strip().lower() not in ("y", "yes"):
        raise UsageError("not run")
    marker.parent.mkdir(parents=True, exist_ok=True)
    marker.write_text(asked, encoding="utf-8")


def _request(command: Command, options: Namespace, folder: Path, world: int) -> Request:
    from nanolint.trace.process import Request

    return Request(
        python=_located(options.python or command.python or _usual_python(folder)),
        argv=command.argv,
        module=command.module,
        before=options.before and options.before.resolve(),
        world_size=world,
        ranked=command.ranked,
        steps=options.steps,
        seconds=options.timeout,
        host_bytes=options.host_memory << 30,
        environment=dict(command.environment),
        protected=not options.unprotected,
        folder=folder,
    )


def _located(python: str) -> str:
    """The interpreter's absolute path: it is started in another folder."""
    found = python if "/" in python else shutil.which(python)
    if found is None:
        raise UsageError(f"{python}: no such interpreter")
    return str(Path(found).absolute())


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
    from nanolint.trace.guarded import CannotTrace

    show = _shown(streams)
    try:
        if options.snapshot is not None:
            with options.snapshot.open("wb") as file:
                history = process.trace(request, usual_folder(), show, file)
        else:
            history = process.trace(request, usual_folder(), show)
    except OSError as error:
        raise UsageError(f"{error.filename}: {error.strerror}") from error
    except CannotTrace as error:
        raise _in_one_line(str(error), streams) from error
    finally:
        _hide(streams)
    return _checked(history, request.python, streams)


def _checked(history: dict[str, Any], python: str, streams: Streams | None = None) -> Traced:
    """What was history, if the script came to an optimizer step; else it shows what was printed."""
    from nanolint.trace.failures import explained
    from nanolint.trace.traced import read

    traced = read(history)
    if not traced.complete:
        raise _in_one_line(explained(traced, python), streams)
    return traced


def _in_one_line(text: str, streams: Streams | None) -> UsageError:
    """An error of the first line; the others, which the script printed, are shown before it."""
    from nanolint.report.printer import printable

    first, *printed = text.splitlines()
    if streams is not None:
        _hide(streams)
        for line in printed:
            streams.warn(printable(line))
    return UsageError(first)


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


DESCRIPTION = """\
Run the first optimizer steps of a training script on a simulated CUDA device
that only counts allocations, and show where its memory would go on a card.
It needs Linux, a CUDA build of PyTorch and cc, but no GPU. It is the only
command that runs your code. Your code gets no network and cannot write to your
files.

  nanolint trace --gpu rtx-4070 -- python train.py config/train_shakespeare.py
  nanolint trace --python .venv/bin/python -- \\
    torchrun --nproc_per_node=8 -m scripts.base_train"""

DEFAULT_SECONDS, DEFAULT_HOST_GIB = 600, 8
DEFAULT_TRACES = 60


def parser() -> Parser:
    """The options of the words before ``--``."""
    made = Parser("nanolint trace", "[OPTION]... -- COMMAND...", DESCRIPTION)
    made.add_argument(
        "--python", metavar="PATH", help="Python interpreter that has your PyTorch (default: the "
        "one in the command, in .venv or VIRTUAL_ENV, else python3)",
    )  # fmt: skip
    made.add_argument(
        "--before", type=Path, metavar="FILE", help="Python file to run first: stand-ins for data, "
        "downloads, tokenizers",
    )  # fmt: skip
    made.add_argument(
        "--steps", type=positive, metavar="N", help="optimizer steps to run (default: until two "
        "reserve the same, including evaluations and samples up to step 50; with --profile: 3)",
    )  # fmt: skip
    made.add_argument("--timeout", type=positive, default=DEFAULT_SECONDS, metavar="SECONDS",
                        help=f"stop after so many seconds (default: "
                        f"{DEFAULT_SECONDS})")  # fmt: skip
    made.add_argument("--host-memory", type=positive, default=DEFAULT_HOST_GIB, metavar="GIB",
                        help=f"stop if it takes more memory of this machine (default: "
                        f"{DEFAULT_HOST_GIB})")  # fmt: skip
    made.add_argument("--yes", action="store_true", help="run the code without asking")
    made.add_argument(
        "--unprotected", action="store_true", help="run it even if the sandbox is not available: "
        "the script may use the network and write files",
    )  # fmt: skip
    made.add_argument(
        "--try", type=_tried, dest="try_values", metavar="KEY=N,N",
        help="also trace these values of an option of the script: batch_size=8,4",
    )  # fmt: skip
    made.add_argument(
        "--profile", action="store_true", help="trace several micro-batches, and save a profile "
        "of them in .nanolint/ for the other commands",
    )  # fmt: skip
    made.add_argument(
        "--most-traces", type=positive, default=DEFAULT_TRACES, metavar="N",
        help=f"traces of a profile at most (default: {DEFAULT_TRACES})",
    )  # fmt: skip
    made.add_argument("--format", choices=("text", "json"), default="text")
    made.add_argument(
        "--snapshot", type=Path, metavar="OUT.pickle",
        help="write the allocator's history for pytorch.org/memory_viz",
    )  # fmt: skip
    made.add_argument(
        "--plot", type=Path, metavar="OUT.svg|png",
        help="draw live memory over the events of one step (needs nanolint[plot])",
    )  # fmt: skip
    made.add_argument("--color", choices=("auto", "always", "never"), default="auto")
    group = made.add_argument_group("the machine")
    group.add_argument("--gpu", action="append", metavar="NAME|SIZE|auto",
                       help="target GPU; repeat it to check several")  # fmt: skip
    group.add_argument(
        "--in-use", metavar="SIZE", help="memory already used on the card, such as 2GiB"
    )
    group.add_argument("--world-size", type=positive, metavar="N", help="number of processes")
    group.add_argument("--platform", choices=("linux", "windows", "wsl"),
                       help="system of the run")  # fmt: skip
    group.add_argument(
        "--allocator", choices=("default", "expandable"),
        help="expandable: as PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True does",
    )  # fmt: skip
    add_settings_options(made)
    return made


def _tried(text: str) -> tuple[str, tuple[str, ...]]:
    """``batch_size=8,4`` as a key and its values."""
    key, _, values = text.partition("=")
    found = tuple(value.strip() for value in values.split(",") if value.strip())
    if not (key.strip("-") and found):
        raise ArgumentTypeError(f"{text!r} is not a key with its values, such as batch_size=8,4")
    return key.lstrip("-"), found
