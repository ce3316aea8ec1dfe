"""``nanolint explain``: where the memory of a run goes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from nanolint.cli.configuration import Configuration, add_settings_options, add_target_options
from nanolint.cli.launch import read_launch, split_launch
from nanolint.cli.parser import Parser, UsageError

if TYPE_CHECKING:
    from nanolint.cli.streams import Streams
    from nanolint.gpus.gpu import Target
    from nanolint.plan import Plan
    from nanolint.report.explanation import Explanation

DESCRIPTION = "Tell where the memory of a run goes, phase by phase, and whether it fits a GPU."


def run(arguments: list[str], streams: Streams) -> int:
    """Explain the config that ``arguments`` name; returns the exit status."""
    given, launch = split_launch(arguments)
    parser = _parser()
    options = parser.parse(given, streams)
    configs, overrides = read_launch(options.set, launch)
    files = [*options.files, *configs]
    if len(files) != 1:
        parser.error(f"explain takes one FILE, found {len(files)}")
    plan = Configuration(options, overrides).plan_of(Path(files[0]).parent)
    targets = plan.chosen.targets
    if len(targets) > 1:
        names = ", ".join(target.label for target in targets)
        raise UsageError(f"explain takes one GPU, found {names}; choose one with --gpu")
    explanation = _explanation(files[0], plan, targets[0] if targets else None)
    streams.stdout.write(json.dumps(explanation.as_json(), indent=2) + "\n")
    return 0


def _parser() -> Parser:
    parser = Parser("nanolint explain", "FILE [OPTION]...", DESCRIPTION)
    parser.add_argument("files", nargs="*", metavar="FILE", help="a config, or a train.py")
    parser.add_argument("--format", choices=("json",), default="json")
    add_target_options(parser)
    add_settings_options(parser)
    return parser


def _explanation(name: str, plan: Plan, target: Target | None) -> Explanation:
    from nanolint.files.reading import Unreadable, read
    from nanolint.memory.replay import replay
    from nanolint.memory.verdict import judge
    from nanolint.report.explanation import Explanation
    from nanolint.run.project import find_project
    from nanolint.run.resolve import resolve, star_importer
    from nanolint.source.parse import Unparsable, parse
    from nanolint.source.scan import TooComplex
    from nanolint.source.text import Undecodable, decode

    path = Path(name)
    options = plan.setup(path).options
    project = find_project(path, train_script=plan.train_script)
    try:
        text = decode(read(path)).text
        module = parse(text, project.environment, star_importer(project, path))
    except (Unreadable, Undecodable, Unparsable, TooComplex) as error:
        raise UsageError(f"{name}: {error}") from error
    resolution = resolve(module, project, options, target, config_path=path)
    run = resolution.run
    verdict = None
    if run and run.on_gpu and target:
        verdict = judge(run, target, allocator=options.allocator, platform=options.platform)
    unlimited = None
    if run:
        unlimited = verdict.replay if verdict else replay(run, target.gpu if target else None)
    return Explanation(name, target, resolution, unlimited, verdict)
