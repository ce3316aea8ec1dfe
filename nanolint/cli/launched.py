"""Launch lines as runs to judge: their paths found, their words read, or refused, as the script
does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from nanolint.files.door import absolute, is_file
from nanolint.files.notes import memo
from nanolint.files.repository import is_root
from nanolint.frozen import dataclass
from nanolint.run.overrides import all_overrides, override_faults
from nanolint.run.settled import NO_LINE, Override

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.launches.launch import Launch, Processes
    from nanolint.run.flags import LaunchLine
    from nanolint.run.settled import Options

MOST_BYTES = 1 << 20  # of a script that is looked at


class NotJudged(ValueError):
    """A launch that no verdict can be given on. Its text is one line."""


@dataclass(frozen=True, slots=True)
class Launched:
    """One run: the script, and what it reads, in that order.

    ``remarks`` say in a line each what of the launch was not followed, or was taken for granted.
    """

    arguments: tuple[Path | Override, ...] = ()
    script: Path | None = None
    processes: Processes | None = None
    allocator: str | None = None
    remarks: tuple[str, ...] = ()
    line: LaunchLine = NO_LINE

    @property
    def files(self) -> tuple[Path, ...]:
        """The files whose text decides the run: its configs, or the script where it has none."""
        configs = tuple(dict.fromkeys(a for a in self.arguments if isinstance(a, Path)))
        return configs or ((self.script,) if self.script else ())


def is_trainer(script: Path) -> bool:
    """Whether a script trains: it is called so, or it goes backward."""
    return "train" in script.stem or goes_backward(script)


def goes_backward(script: Path) -> bool:
    """Whether a file trains: by itself, or with the loop of another file that it starts."""
    from nanolint.errors import Unusable
    from nanolint.files.door import read_bytes

    try:
        content = read_bytes(script, MOST_BYTES)
    except Unusable:
        return False
    return b".backward(" in content or _starts_training(content, script)


def _starts_training(content: bytes, script: Path) -> bool:
    from nanolint.trainers.nanogpt.kind import imports_loop, may_train

    text = content.decode(errors="replace")
    if script.suffix != ".py" or not (may_train(text) or imports_loop(text, absolute(script))):
        return False
    from nanolint.run.settled import Options
    from nanolint.source.values import TooComplex
    from nanolint.trainers.script.resolve import makes_run

    try:
        return makes_run(text, absolute(script), Options())
    except TooComplex:
        return False


def takes_flags(path: Path) -> bool:
    """Whether the file trains, and reads its launch line otherwise than nanoGPT's train.py."""
    return path.suffix == ".py" and goes_backward(path) and is_foreign(path)


def is_foreign(script: Path) -> bool:
    """Whether a script is not of nanoGPT's kind."""
    from nanolint.trainers.nanogpt.project import find_project

    return find_project(script, train_script=script).foreign


@memo
def _takes_dashes(script: Path) -> bool:
    """Whether the configurator of a script takes ``--key=value``, as nanoGPT's does."""
    from nanolint.trainers.nanogpt.configurator import needs_dashes
    from nanolint.trainers.nanogpt.project import find_project

    project = find_project(script, train_script=script)
    if project.tree is None or project.configurator is None or project.root is None:
        return True
    return needs_dashes(project.tree.body[project.configurator], project.root)


def locate(launch: Launch, around: Path | None = None) -> Launched:
    """``launch`` with its paths found from the working folder; raises NotJudged.

    ``around`` is the file that the line stands in: its folder and those above it are searched, too.
    """
    from nanolint.run.overrides import read_arguments

    launch = _beside(launch, around)
    folder, script = _find(launch, around)
    found = Launched(
        (),
        script,
        launch.processes,
        launch.allocator,
        (*launch.remarks, *_taken_for_granted(launch.processes)),
        _line_of(launch),
    )
    if is_foreign(script):
        return found
    try:
        read = read_arguments(launch.arguments, dashed=_takes_dashes(script))
    except ValueError as error:
        raise NotJudged(str(error)) from error
    written = next((a for a in read if isinstance(a, Path) and str(a) in launch.written), None)
    if written is not None:
        raise NotJudged(f"{written} is a file that the script itself writes")
    arguments = tuple(each for a in read for each in _placed(a, folder, launch))
    for each in arguments:
        if isinstance(each, Path) and not is_file(each):
            what = "is a folder, not a config" if each.is_dir() else "no such file"
            raise NotJudged(f"{each}: {what}")
    return replace(found, arguments=arguments)


def _placed(given: Path | Override, folder: Path, launch: Launch) -> Iterator[Path | Override]:
    """A config where it lies, or what it sets where a cell of the notebook writes it."""
    from nanolint.launches.launch import path_from
    from nanolint.run.takers.launches import read_written

    if not isinstance(given, Path):
        yield given
        return
    config = launch.cells.get(path_from(launch.folder, str(given)) or "")
    if config is None:
        yield folder / given
        return
    try:
        yield from read_written(config)
    except ValueError as error:
        raise NotJudged(f"{given}, which a cell writes, {error}") from error


def _line_of(launch: Launch) -> LaunchLine:
    from nanolint.run.flags import read_line

    line = read_line(launch.arguments, launch.environment, launch.script_end)
    at = line.end if launch.added_at is None else launch.added_at
    return replace(
        line,
        end=at,
        added=launch.added,
        is_module=launch.is_module,
        is_whole=line.unknown is None,
    )


def script_near(around: Path, path: str) -> str | None:
    """The text of the script that the one at ``around`` calls ``path``, None where none is."""
    from nanolint.errors import Unusable
    from nanolint.files.door import read_bytes
    from nanolint.launches.shell.expand import OWN_FOLDER

    path = path.replace(OWN_FOLDER, str(around.parent), 1)
    for base in _bases(around):
        if is_file(base / path):
            try:
                return read_bytes(base / path, MOST_BYTES).decode(errors="replace")
            except Unusable:
                return None
    return None


def _beside(launch: Launch, around: Path | None) -> Launch:
    """``launch`` with the folder of ``around`` where it says that of the script itself."""
    if around is None:
        return launch
    from nanolint.launches.shell.expand import OWN_FOLDER  # that of a script, which was read

    def place(text: str) -> str:
        return text.replace(OWN_FOLDER, str(around.parent), 1)

    return replace(
        launch,
        script=Path(place(str(launch.script))),
        folder=launch.folder and place(launch.folder),
        arguments=tuple(replace(each, text=place(each.text)) for each in launch.arguments),
    )


def _taken_for_granted(processes: Processes) -> tuple[str, ...]:
    if processes.why is None or processes.every_card:  # of which a verdict says what it took
        return ()
    if processes.count is None:
        return (f"the number of processes is unknown: {processes.why}",)
    return (processes.why,)


def _find(launch: Launch, around: Path | None) -> tuple[Path, Path]:
    """The folder that the line's paths are relative to, and the script; raises NotJudged."""
    for base in _bases(around):
        for folder in _folders(launch.folder, base):
            for script in _scripts(launch):
                if is_file(folder / script):
                    return folder, folder / script
    what = f"no module {'.'.join(launch.script.with_suffix('').parts)}"
    raise NotJudged(what if launch.is_module else f"{launch.script}: no such file")


def _folders(named: str | None, base: Path) -> Iterator[Path]:
    """Where ``cd`` leads from ``base``; a checkout on another machine may be this one by name."""
    folder = base / (named or "")
    yield folder
    if folder.is_absolute() and folder.name == absolute(base).name:
        yield base


def _scripts(launch: Launch) -> Iterator[Path]:
    yield launch.script
    if launch.is_module:
        yield launch.script.with_suffix("") / "__main__.py"


def _bases(around: Path | None) -> Iterator[Path]:
    """The working folder, then that of the file and those above it in the same repository."""
    yield Path()
    if around is None:
        return
    for folder in (around.parent, *around.parent.parents, *absolute(around).parent.parents):
        yield folder
        if is_root(folder):
            return


def refused_by_parser(text: str, path: Path | None, options: Options) -> str | None:
    """Why the parser of the script ``text`` does not take the launch line, in one line."""
    if path is None:
        return None
    from nanolint.trainers.script.resolve import refusals

    return "; ".join(refusals(text, path, options)) or None


def refused_by_project(
    text: str, path: Path | None, options: Options, train_script: Path | None
) -> str | None:
    """Why the configurator of the project around ``path`` does not take the launch line.

    A script that trains with values of its own, ``text``, has none.
    """
    overrides = all_overrides(options)
    if not overrides:
        return None
    from nanolint.trainers.nanogpt.configurator import needs_dashes
    from nanolint.trainers.nanogpt.kind import trains
    from nanolint.trainers.nanogpt.project import find_project

    if path is not None and trains(text) and is_foreign(path):
        return None
    project = find_project(path, train_script=train_script)
    if project.tree is not None and project.configurator is not None and project.root is not None:
        words = [each for each in options.arguments if isinstance(each, Override)]
        given = next((each for each in words if each.dashed and not each.in_config), None)
        if given and not needs_dashes(project.tree.body[project.configurator], project.root):
            return f"the configurator takes {given.key}=VALUE, without dashes"
    return "; ".join(reason for _, reason in override_faults(overrides, project)) or None
