"""``nanolint explain``: where the memory of a run goes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from nanolint.cli.chosen_run import read_one_run
from nanolint.cli.launch import read_sets
from nanolint.cli.options import add_one_file, add_settings_options, add_target_options
from nanolint.cli.parser import Parser, UsageError
from nanolint.cli.streams import printer

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from nanolint.cli.config_file import ConfigFile
    from nanolint.cli.streams import Streams
    from nanolint.linting.plan import Plan
    from nanolint.rule.case import Case

DESCRIPTION = """\
Show where the memory of a run goes in each phase, whether the run fits a GPU,
and what would make it fit.

  nanolint explain config/train_gpt2.py --gpu rtx-4070
  nanolint explain config/train_gpt2.py --gpu rtx-4070 --plot memory.svg
  nanolint explain config/train_gpt2.py --oom error.txt"""

STDIN = "-"
FILES = ("plot", "html", "snapshot")  # options that write a file
ONE_CARD = ("lines", "oom", "compare", *FILES)  # what is about one card only


def run(arguments: list[str], streams: Streams) -> int:
    """Explain the config that ``arguments`` name; returns the exit status."""
    options, name, launch = read_one_run("explain", parser(), arguments, streams)
    # Only now is it certain that anything will be judged; what follows imports the engine.
    from nanolint.cli.config_file import named, open_config
    from nanolint.cli.configuration import Configuration
    from nanolint.source.text import LineIndex

    file = named(name, options.stdin_filename)
    if file.is_stdin and options.oom == STDIN:
        raise UsageError("- (standard input) cannot be both the config and the error")
    plan = Configuration(options, read_sets(options.set), launch).plan_of(file.folder)
    targets = plan.setup(file.path).targets
    if len(targets) > 1 and any(_wants(options, way) for way in ONE_CARD):
        names = ", ".join(target.label for target in targets)
        raise UsageError(f"explain takes one GPU, found {names}; choose one with --gpu")
    config = open_config(file, plan, streams)
    cases = [config.case(target) for target in targets or (None,)]
    written = [name for name in FILES if _wants(options, name)]
    if options.lines:
        return _by_lines(config, cases[0], options, streams)
    if written:
        return _written(config, cases[0], options, written, streams)
    if options.compare is not None:
        return _compare_snapshot(config, cases[0], options, streams)
    if options.oom is not None:
        return _compare(config, cases[0], plan, options, streams)
    if options.format == "json":
        from nanolint.report.explanation import explained

        lines = LineIndex(config.config.text)
        torch = config.config.options.torch_version
        found = [explained(config.name, case, lines, torch).as_json() for case in cases]
        whole = found[0] if len(found) == 1 else found
        streams.stdout.write(json.dumps(whole, indent=2) + "\n")
    else:
        _tell(config, cases, plan, options, streams)
        for remark in plan.chosen.remarks:
            printer(streams.stdout, options.color).line((remark, "dim"))
    return 0


def parser() -> Parser:
    """The options of the command."""
    made = Parser("nanolint explain", "FILE|- [OPTION]...", DESCRIPTION)
    add_one_file(made)
    made.add_argument("--format", choices=("text", "json"), default="text")
    made.add_argument(
        "--lines",
        action="store_true",
        help="show what each line of model.py keeps for the backward pass and holds at the peak",
    )
    made.add_argument(
        "--plot",
        type=Path,
        metavar="OUT.svg|png",
        help="draw live memory over the events of one step (needs nanolint[plot])",
    )
    made.add_argument(
        "--html",
        type=Path,
        metavar="OUT.html",
        help="write a page that you can send: timeline of a step, budget, ways out",
    )
    made.add_argument(
        "--snapshot",
        type=Path,
        metavar="OUT.pickle",
        help="write the predicted memory snapshot for pytorch.org/memory_viz",
    )
    made.add_argument(
        "--oom",
        metavar="FILE|-",
        help="compare the prediction with the out-of-memory error of PyTorch in FILE",
    )
    made.add_argument(
        "--compare",
        type=Path,
        metavar="SNAPSHOT.pickle",
        help="compare the prediction with a snapshot of torch.cuda.memory._dump_snapshot",
    )
    made.add_argument("--color", choices=("auto", "always", "never"), default="auto")
    add_target_options(made)
    add_settings_options(made)
    return made


def _wants(options: Namespace, name: str) -> bool:
    return vars(options)[name] not in (None, False)


def _tell(
    config: ConfigFile, cases: Sequence[Case], plan: Plan, options: Namespace, streams: Streams
) -> None:
    from nanolint.report.explain import text
    from nanolint.source.text import LineIndex

    out = printer(streams.stdout, options.color)
    usual = plan.usual if cases[0].target is None else ()
    lines = LineIndex(config.config.text)
    text.render(config.name, cases, lines, out, trace=config.config.trace, usual=usual)


def _by_lines(config: ConfigFile, case: Case, options: Namespace, streams: Streams) -> int:
    from nanolint.report.explain import lines
    from nanolint.report.explain.text import width_of
    from nanolint.report.lines import as_json, line_report

    _needed_run(config, case)
    found = line_report(case)
    if options.format == "json":
        streams.stdout.write(json.dumps(as_json(config.name, case, found), indent=2) + "\n")
    elif isinstance(found, str):
        raise UsageError(f"{config.name}: no lines: {found}")
    else:
        out = printer(streams.stdout, options.color)
        lines.render(config.name, case, found, out, width_of(out))
    return 0


def _written(
    config: ConfigFile, case: Case, options: Namespace, wanted: Sequence[str], streams: Streams
) -> int:
    from nanolint.cli.explain_files import WRITERS

    _needed_run(config, case)
    for name in wanted:
        path = vars(options)[name]
        WRITERS[name](config, case, path)
        streams.warn(f"Wrote {path}.")
    return 0


def _compare(
    config: ConfigFile, case: Case, plan: Plan, options: Namespace, streams: Streams
) -> int:
    from nanolint.report.explain import oom
    from nanolint.settings.targets import placed
    from nanolint.verdict.measured import NotAnOomMessage, parse_oom_message

    _needed_run(config, case)
    try:
        message = parse_oom_message(_pasted(options.oom, streams))
    except NotAnOomMessage as error:
        raise UsageError(f"--oom: {error}") from error
    machine = placed(oom.reported_machine(message, case.target), plan.sourced.settings)
    same_card = config.case(machine)  # its size may decide dtype and kernel
    oom.render(message, same_card, printer(streams.stdout, options.color))
    return 0


def _compare_snapshot(config: ConfigFile, case: Case, options: Namespace, streams: Streams) -> int:
    from nanolint.errors import Unusable
    from nanolint.files.door import read_bytes
    from nanolint.report.explain import compared
    from nanolint.verdict.measured import MOST_BYTES, NotASnapshot, read_snapshot

    _needed_run(config, case)
    try:
        measured = read_snapshot(read_bytes(options.compare, MOST_BYTES))
    except (Unusable, NotASnapshot) as error:
        raise UsageError(f"--compare: {options.compare}: {error}") from error
    compared.render(measured, case, printer(streams.stdout, options.color))
    return 0


def _pasted(name: str, streams: Streams) -> str:
    from nanolint.errors import Unusable
    from nanolint.files.door import read_bytes
    from nanolint.verdict.measured import decode_log

    try:
        raw = streams.read_stdin() if name == STDIN else read_bytes(Path(name))
    except Unusable as error:
        raise UsageError(f"--oom: {name}: {error}") from error
    return decode_log(raw)


def _needed_run(config: ConfigFile, case: Case) -> None:
    """Refuse a config whose memory only a run could tell, or that needs no GPU at all."""
    if case.run is None:
        raise UsageError(f"{config.name}: {case.resolution.why_unknown}")
    if not case.run.on_gpu:
        raise UsageError(f"{config.name}: device = {case.run.device!r} uses no GPU memory")
