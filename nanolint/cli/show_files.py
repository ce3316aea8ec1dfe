"""``--show-files``: which files would be judged, and what each is taken for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from nanolint.errors import Unusable
from nanolint.files.door import read_bytes
from nanolint.launches.files import is_launch_file
from nanolint.linting.discovery import discover
from nanolint.linting.engine import Report, read
from nanolint.settings.tables import SettingsError
from nanolint.source.text import Undecodable, decode
from nanolint.trainers.nanogpt.kind import FileKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.cli.configuration import Configuration
    from nanolint.cli.streams import Streams
    from nanolint.linting.discovery import Candidate

NAMES = {
    FileKind.SCRIPT: "code: no run; the rules about code check it",
    FileKind.TRAIN_SCRIPT: "training script: a run with its own values",
}
CONFIG = "config: a run"
NOTHING = "code: nothing that a rule checks"


def show_files(paths: Sequence[str], configuration: Configuration, streams: Streams) -> int:
    """List the files that ``paths`` stand for; returns the exit status, 2 if one is unusable."""
    scripts = [path for path in paths if is_launch_file(path)]
    others = [path for path in paths if not is_launch_file(path)]
    force = configuration.options.force_exclude
    found = discover(others, configuration.settings_of, force_exclude=force)
    lines = [(name, "launch script") for name in scripts]
    lines += [(each.name, _what(each, configuration)) for each in found.candidates]
    widest = max((len(name) for name, _ in lines), default=0)
    for name, what in lines:
        streams.stdout.write(f"{name:<{widest}}  {what}\n")
    for name, why in found.problems:
        streams.warn(f"nanolint: {name}: {why}")
    return 2 if found.problems else 0


def _what(candidate: Candidate, configuration: Configuration) -> str:
    try:
        plan = configuration.plan_of(Path(candidate.name).parent)
        text = decode(read_bytes(candidate.path)).text
    except (Unusable, Undecodable, SettingsError) as error:
        return f"unusable: {error}"
    setup = plan.setup(candidate.path)
    context = read(text, candidate.path, setup, explicit=candidate.explicit)
    if isinstance(context, Report):
        return context.unjudged or NOTHING
    return "not valid Python" if context.fault else NAMES.get(context.kind, CONFIG)
