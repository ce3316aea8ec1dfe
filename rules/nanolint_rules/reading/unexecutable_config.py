"""NL006: nanoGPT's configurator cannot run the file, or not to its end."""

from __future__ import annotations

from nanolint.rule import Context, Finding, Findings, Need, Severity, Span, obstacle, rule


@rule("NL006", "unexecutable-config", Severity.ERROR, needs=[Need.CONFIG], stops=True)
def unexecutable_config(context: Context) -> Findings:
    """The config is valid Python, but the configurator's exec cannot run it to its end."""
    if context.is_train_script:
        return
    found = obstacle(context.text, context.path)
    if found is not None:
        yield Finding(
            f"configurator.py cannot run this file: {found.text}", _line(context, found.line)
        )


def _line(context: Context, number: int) -> Span:
    """The characters of a line, from 1, without the blanks around it."""
    lines = context.text.splitlines(keepends=True)
    start = sum(map(len, lines[: number - 1]))
    line = lines[number - 1] if number <= len(lines) else ""
    indent = len(line) - len(line.lstrip())
    return Span(start + indent, start + max(indent, len(line.rstrip())))
