"""``nanolint fit``: which micro-batch of a config fits which card."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.cli.chosen_run import read_one_run
from nanolint.cli.launch import read_sets
from nanolint.cli.options import add_one_file, add_settings_options, add_target_options
from nanolint.cli.parser import Parser, UsageError
from nanolint.cli.processes import after_a_while
from nanolint.cli.streams import printer

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from nanolint.cli.config_file import ConfigFile
    from nanolint.cli.streams import Streams
    from nanolint.gpus.gpu import Machine
    from nanolint.linting.plan import Plan
    from nanolint.report.fit import Row

DESCRIPTION = """\
List the largest micro-batch that comfortably fits each card, and the
accumulation steps that keep the effective batch.

  nanolint fit config/train_gpt2.py
  nanolint fit config/train_gpt2.py --gpu rtx-4070 --gpu 8xA100-40GB"""


def run(arguments: list[str], streams: Streams) -> int:
    """Print the table for the config that ``arguments`` name; returns the exit status."""
    options, name, launch = read_one_run("fit", parser(), arguments, streams)
    # Only now is it certain that anything will be judged; what follows imports the engine.
    from nanolint.cli.config_file import named, open_config
    from nanolint.cli.configuration import Configuration

    file = named(name, options.stdin_filename)
    plan = Configuration(options, read_sets(options.set), launch).plan_of(file.folder)
    config = open_config(file, plan, streams)
    rows = _rows(config, _targets(plan.setup(file.path).targets, plan, options))
    _needed_run(config, rows)
    from nanolint.report import fit

    if options.format == "json":
        streams.stdout.write(json.dumps(fit.as_json(config.name, rows), indent=2) + "\n")
    else:
        out = printer(streams.stdout, options.color)
        fit.render(config.name, rows, out)
        for remark in plan.chosen.remarks:
            out.line((f"  {remark}", "dim"))
    return 0


def parser() -> Parser:
    """The options of the command."""
    made = Parser("nanolint fit", "FILE|- [OPTION]...", DESCRIPTION)
    add_one_file(made)
    made.add_argument("--format", choices=("text", "json"), default="text")
    made.add_argument("--color", choices=("auto", "always", "never"), default="auto")
    add_target_options(made)
    add_settings_options(made)
    return made


def _targets(
    chosen: Sequence[Machine], plan: Plan, options: Namespace
) -> list[tuple[Machine, bool]]:
    """What ``--gpu`` names; else the usual cards and those of the settings among them.

    With each, whether somebody named it.
    """
    if options.gpu:
        return [(target, True) for target in chosen]
    named = {target.gpu.name for target in chosen}
    targets = [(machine, False) for machine in plan.usual if machine.gpu.name not in named]
    targets += [(target, True) for target in chosen]
    return sorted(targets, key=lambda each: each[0].gpu.total_bytes)


def _rows(config: ConfigFile, targets: Sequence[tuple[Machine, bool]]) -> list[Row]:
    return list(after_a_while(_row, config, targets))


def _row(config: ConfigFile, of: tuple[Machine, bool]) -> Row:
    from nanolint.interpreter.values import Unread
    from nanolint.report.fit import Row
    from nanolint.rule.case import Case
    from nanolint.verdict.search import best_fit

    target, named = of
    case = config.case(target)
    # What no reading changes needs none of the file's own micro-batch: doubts are of what is shown.
    run = case.settled.run if case.settled.read is None else case.run
    try:
        fit = best_fit(run, target) if run is not None and run.on_gpu else None
    except Unread:
        fit = None
    if fit is not None and run is case.settled.run:
        shown = Case(replace(case.settled, run=fit.run), target)
        found = replace(shown.resolution, run=run)
    else:
        found = case.resolution
    # The rivals hold syntax trees, which do not travel, and are decided by now.
    return Row(target, replace(found, rivals=None), fit, named)


def _needed_run(config: ConfigFile, rows: Sequence[Row]) -> None:
    """Refuse a config whose memory only a run could tell, or that needs no GPU at all."""
    if all(row.run is None for row in rows):
        raise UsageError(f"{config.name}: {config.case(rows[0].target).resolution.why_unknown}")
    if any(row.run is not None and not row.run.on_gpu for row in rows):
        raise UsageError(f"{config.name}: the run uses no GPU memory")
