"""Bytes to text to assignments: nothing is lost, and what is refused is refused in words."""

from __future__ import annotations

from harness import run, watched

with watched():
    from nanolint.source.parse import Unparsable, parse
    from nanolint.source.scan import TooComplex
    from nanolint.source.suppressions import find
    from nanolint.source.text import LineIndex, Undecodable, decode, encode


def one_input(data: bytes) -> None:
    try:
        source = decode(data)
    except Undecodable:
        return
    assert encode(source, source.text) == data
    text = source.text
    try:
        module = parse(text, {}, None)
    except (Unparsable, TooComplex) as error:
        assert "\n" not in str(error)
        return
    lines = LineIndex(text)
    for assignment in module.assignments:
        key = text[assignment.key_span.start : assignment.key_span.end]
        assert key.isidentifier() or not key.isascii(), key
        assert assignment.key_span.end <= len(text)
        row, column = lines.position(assignment.value_span.start)
        assert lines.offset(row, column) == assignment.value_span.start
    for comment in module.comments:
        assert text[comment.span.start] == "#"
    find(module.comments, text)


if __name__ == "__main__":
    run(one_input)
