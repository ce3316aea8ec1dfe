"""What ``nanolint explain`` writes to files: the picture, the report to send, the snapshot."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from nanolint.cli.parser import UsageError
from nanolint.files.door import reason

if TYPE_CHECKING:
    from collections.abc import Callable

    from nanolint.cli.config_file import ConfigFile
    from nanolint.report.picture import Subject
    from nanolint.rule.case import Case

PICTURES = (".svg", ".png")
PAGES = (".html", ".htm")


def write_plot(config: ConfigFile, case: Case, path: Path) -> None:
    """Draw the run as an SVG or a PNG. Raises UsageError."""
    from nanolint.report.picture import subject_of

    doubt = " (not certain)" if case.resolution.doubts else ""
    draw_into(path, lambda: subject_of(case, f"{Path(config.name).name}{doubt}"))


def draw_into(path: Path, subject: Callable[[], Subject]) -> None:
    """Draw what ``subject`` gives into ``path``. Raises UsageError, before it is asked for."""
    check_picture(path)
    from nanolint.report.picture import draw

    _write("--plot", path, lambda: draw(subject(), path))


def check_picture(path: Path) -> None:
    """Whether a picture can be drawn there; raises UsageError."""
    _check_suffix("--plot", path, PICTURES)
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise UsageError("--plot needs matplotlib: pip install 'nanolint[plot]'") from error


def write_html(config: ConfigFile, case: Case, path: Path) -> None:
    """Write the whole answer as one page that needs nothing else. Raises UsageError."""
    _check_suffix("--html", path, PAGES)
    from nanolint.report.html import page
    from nanolint.source.text import LineIndex

    text = page(config.name, case, LineIndex(config.config.text))
    _write("--html", path, lambda: path.write_text(text, encoding="utf-8", newline="\n"))


def write_snapshot(config: ConfigFile, case: Case, path: Path) -> None:
    """Write the predicted memory snapshot in PyTorch's own format. Raises UsageError."""
    from nanolint.report.snapshot import pickled

    del config
    data = pickled(case)
    _write("--snapshot", path, lambda: path.write_bytes(data))


def _check_suffix(option: str, path: Path, suffixes: tuple[str, ...]) -> None:
    if path.suffix.lower() not in suffixes:
        names = " or ".join(suffixes)
        raise UsageError(f"{option}: expected a name that ends in {names}, found {path}")


def _write(option: str, path: Path, write: Callable[[], object]) -> None:
    try:
        write()
    except OSError as error:
        raise UsageError(f"{option}: {path}: {reason(error)}") from error


WRITERS: dict[str, Callable[[ConfigFile, Case, Path], None]] = {
    "plot": write_plot,
    "html": write_html,
    "snapshot": write_snapshot,
}
