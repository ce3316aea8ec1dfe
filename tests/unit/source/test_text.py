"""Bytes come back as they were; rows and columns are Python's."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nanolint.source.text import LineIndex, SourceText, Undecodable, Unencodable, decode, encode


@settings(deadline=None)
@given(st.binary(max_size=60))
def test_what_can_be_decoded_comes_back_byte_for_byte(raw: bytes) -> None:
    try:
        source = decode(raw)
    except Undecodable:
        return
    assert encode(source, source.text) == raw


@settings(deadline=None)
@given(
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=40),
    st.sampled_from(["utf-8", "latin-1", "cp1252", "koi8-r", "gbk", "shift_jis", "iso2022_jp"]),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.booleans(),
)
def test_every_encoding_and_newline_comes_back(
    text: str, encoding: str, newline: str, final: bool
) -> None:
    whole = f"# coding: {encoding}{newline}x = 1  # {text}" + newline * final
    try:
        raw = whole.encode(encoding)
        source = decode(raw)
    except (UnicodeEncodeError, Undecodable):
        return
    assert encode(source, source.text) == raw


@pytest.mark.parametrize(
    ("raw", "encoding"),
    [
        (b"", "utf-8"),
        (b"x = 1", "utf-8"),
        (b"# -*- coding: latin-1 -*-\nx = '\xe9'\n", "iso8859-1"),
        (b"#!/usr/bin/python\n# vim: set fileencoding=cp1251 :\n\xcf = 1\n", "cp1251"),
        (b"\n# coding=utf8\n", "utf-8"),
        (b"# coding: UTF-8-unix\n", "utf-8"),
        (b"x = 1\n# coding: latin-1\n", "utf-8"),  # below code: no cookie
        (b"\n\n# coding: latin-1\n", "utf-8"),  # on line 3: no cookie
        (b"# one\r# two\r# coding: latin-1\r", "utf-8"),
    ],
)
def test_the_encoding_is_the_one_that_python_would_use(raw: bytes, encoding: str) -> None:
    assert decode(raw).encoding == encoding


def test_a_byte_order_mark_is_kept_apart_from_the_text() -> None:
    raw = codecs.BOM_UTF8 + b"x = 1\r\n"
    source = decode(raw)
    assert source == SourceText("x = 1\r\n", "utf-8", bom=True)
    assert encode(source, "x = 2\r\n") == codecs.BOM_UTF8 + b"x = 2\r\n"


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"x = 1\0", "NUL"),
        (b"\x7fELF\x02\x01\x00", "NUL"),
        ("x = 1".encode("utf-16"), "UTF-16"),
        ("x = 1".encode("utf-16-le"), "NUL"),
        (b"x = '\xff'", "not valid utf-8 at byte 5"),
        (b"# coding: ascii\n# \xe9", "not valid ascii at byte 18"),
        (b"# coding: utf-16\n", "encoding utf-16"),
        (b"# coding: utf-7\n", "encoding utf-7"),
        (b"# coding: rot13\n", "encoding rot13"),
        (b"# coding: zlib\n", "encoding zlib"),
        (b"# coding: idna\n", "encoding idna"),
        (b"# coding: no-such-codec\n", "encoding no-such-codec"),
        (b"# coding: " + b"a" * 100_000, "encoding aaa"),
        (codecs.BOM_UTF8 + b"# coding: latin-1\n", "declares the encoding iso8859-1"),
    ],
)
def test_what_is_no_python_text_is_refused_with_its_reason(raw: bytes, reason: str) -> None:
    with pytest.raises(Undecodable, match=reason):
        decode(raw)


def test_text_that_the_encoding_cannot_hold_is_refused() -> None:
    source = decode(b"# coding: latin-1\n")
    with pytest.raises(Unencodable, match="no character"):
        encode(source, "# coding: latin-1\nx = '\u20ac'")
    with pytest.raises(Unencodable, match="another encoding"):
        encode(source, "# coding: cp1252\nx = '\x80'")


def test_lines_end_where_python_ends_them() -> None:
    lines = LineIndex("a\r\nb\rc\nd\x0ce\u2028f\x85g\n")
    assert [lines.line(row) for row in range(1, 6)] == ["a", "b", "c", "d\x0ce\u2028f\x85g", ""]
    assert lines.last_row == 5
    assert lines.position(0) == (1, 1)
    assert lines.position(3) == (2, 1)
    assert lines.position(10_000) == (5, 1)


def test_columns_count_characters() -> None:
    lines = LineIndex("x = '\N{ROCKET}'  # \N{LATIN SMALL LETTER E WITH ACUTE}\n")
    assert lines.position(7) == (1, 8)
    assert lines.offset(1, 8) == 7


@settings(deadline=None)
@given(st.text(max_size=40), st.integers(0, 40))
def test_offsets_and_positions_are_inverse(text: str, offset: int) -> None:
    lines = LineIndex(text)
    offset = min(offset, len(text))
    row, column = lines.position(offset)
    assert lines.offset(row, column) <= offset  # equal unless inside of \r\n
    if text[max(offset - 1, 0) : offset + 1] != "\r\n":
        assert lines.offset(row, column) == offset


def test_places_outside_of_the_text_are_its_ends() -> None:
    lines = LineIndex("ab\ncd")
    assert lines.offset(1, 99) == 2
    assert lines.offset(99, 1) == 5
    assert lines.offset(0, 1) == 0
    assert lines.line(0) == lines.line(3) == ""
