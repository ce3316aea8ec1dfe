"""A run that is known to stop, as a finding: when, with what words, on which line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.diagnostics import Edit, FileEdits, Fix, Safety, Severity, SourceLine
from nanolint.interpreter.torch.signatures import arguments_of
from nanolint.regex import lazily
from nanolint.rule.api import Finding
from nanolint.rule.placing import chain, elsewhere, file_of, is_here, span_of
from nanolint.run.stop import Cause
from nanolint.source.text import LineIndex
from nanolint.trainers.nanogpt.reading import read_source
from nanolint.units import listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.rule.api import Findings
    from nanolint.rule.context import Context
    from nanolint.run.stop import Stop

_UNKNOWN = lazily(r"(\w+)(?:\.__init__)?\(\) got an unexpected keyword argument '(\w+)'")
STRIDES = "view size is not compatible"  # the only reason for which reshape does what view refuses
MOST_SHOWN = 3  # lines of other files, among the notes


def stops(context: Context, cause: Cause) -> Findings:
    """Yields the finding of a run that stops by ``cause``, once for the file.

    In a module it stands on the line that leads there, if the project's script has such a run.
    """
    leading = context.leading
    resolution = (leading or context).settings
    for stop in (resolution.stop, *(each.stop for each in resolution.unresolved)):
        here = stop is not None and any(is_here(context, each) for each in stop.lines)
        if stop is not None and stop.cause is cause and (here or leading is None):
            others = tuple(elsewhere(context, stop.lines, f"raises {stop.exception}"))
            yield Finding(
                message=f"the run stops {stop.when}: {stop.text}",
                span=span_of(context, stop.lines),
                severity=Severity.WARNING if stop.is_late else None,
                notes=(*_operands(stop), *map(str, others[:MOST_SHOWN])),
                holders=(*others, *chain(context, stop.lines), *_made(context, stop)),
                fix=_fix(context, stop),
            )
            return


def _operands(stop: Stop) -> Iterator[str]:
    places = {what: f" of {line.path}:{line.number}" for what, line in stop.made}
    if stop.operands:
        yield f"given {listed([each + places.get(each, '') for each in stop.operands])}"


def _made(context: Context, stop: Stop) -> Iterator[SourceLine]:
    """The lines that bind what PyTorch refuses."""
    for what, line in stop.made:
        path = context.path if is_here(context, line) else file_of(context, line.path)
        if path is not None:
            yield SourceLine(path, line.number, line.source, f"makes {what}")


def _fix(context: Context, stop: Stop) -> Fix | None:
    """The line that raises as it was meant; in another file a fix has to be asked for."""
    line = stop.lines[0] if stop.lines else None
    path = None if line is None else file_of(context, line.path)
    mended = None if line is None else _mended(stop, line.source)
    if mended is None or line is None or path is None:
        return None
    old, new, safety = mended
    text = context.text if is_here(context, line) else read_source(path)
    start = LineIndex(text).offset(line.number, 1) + line.source.index(old)
    edit = Edit(start, start + len(old), new)
    title = f"write {new.strip(' .(=')} for {old.strip(' .(=')}"
    if is_here(context, line):
        return Fix(title, safety, (edit,))
    return Fix(title, Safety.UNSAFE, (), elsewhere=(FileEdits(path, text, (edit,)),))


def _mended(stop: Stop, source: str) -> tuple[str, str, Safety] | None:
    """Returns a part of a line, and what is meant by it: ``reshape`` takes any strides, and for a
    keyword that a function of PyTorch's lacks, it is the nearest that it has."""
    if stop.words.startswith(STRIDES) and source.count(".view(") == 1:
        return ".view(", ".reshape(", Safety.SAFE
    unknown = _UNKNOWN.match(stop.words)
    if unknown is None or stop.cause is not Cause.ARGUMENT:
        return None
    function, keyword = unknown.groups()
    from difflib import get_close_matches  # of the few who ask

    near = get_close_matches(keyword, arguments_of(function), 1)
    if not near or source.count(f"{keyword}=") != 1:
        return None
    return f"{keyword}=", f"{near[0]}=", Safety.UNSAFE
