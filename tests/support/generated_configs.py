"""Generates configs: every layout, encoding and expression that a config may be written in.

A config is made of pieces, so that a test knows without reading it which characters are the value
of which key.
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

NEWLINES = ["\n", "\n", "\r\n", "\r"]
PAIR = ("batch_size", "gradient_accumulation_steps")
DEFAULTS = {"gradient_accumulation_steps": 40, "eval_iters": 200, "eval_only": False}

# A byte order mark or a cookie, and which comments the encoding can hold.
ENCODINGS = {
    "plain": ("utf-8", "", "größer 🚀 注釈"),
    "marked": ("utf-8-sig", "", "größer 🚀 注釈"),
    "cookie": ("utf-8", "#!/usr/bin/env python\n# -*- coding: utf-8 -*-\n", "注釈"),
    "latin-1": ("latin-1", "# coding: latin-1\n", "größer"),
    "cp1252": ("cp1252", "# vim: set fileencoding=cp1252 :\n", "5 € für größer"),
    "shift-jis": ("shift_jis", "# coding: shift_jis\n", "注釈"),
}


@dataclass(frozen=True)
class Piece:
    """Some characters. ``key``: they are the value that counts of this key."""

    text: str
    key: str | None = None


@dataclass(frozen=True)
class Config:
    """A generated config.

    ``blocked``: how one of the keys is set or used forbids that a fix changes it alone.
    ``told``: a text tells the value of a key, so that no fix changes it without asking.
    """

    pieces: tuple[Piece, ...]
    encoding: str
    blocked: bool
    told: bool

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.pieces)

    @property
    def raw(self) -> bytes:
        return self.text.encode(self.encoding)


@st.composite
def integers(draw: st.DrawFn, value: int) -> str:
    """``value`` as people write it, in one line or several, with comments inside."""
    factors = [factor for factor in (2, 3, 4, 5, 8, 16) if value % factor == 0]
    forms = [str(value), str(value), f"{value:_}", f"{value:#x}", f"({value})", f"(( {value} ))"]
    forms += [
        f"(  # why\n    {value}  # inside\n)",
        f"+{value}",
        f"int({value})",
        f"\\\n    {value}",
    ]
    forms += [f"{value} if True else 3", f"max(1, {value})", f"({value}\n)", f"{value} + 0"]
    for factor in factors:
        rest = value // factor
        forms += [f"{rest} * {factor}", f"{factor}*{rest}", f"1 * {rest} * ({factor})"]
        forms += [f"({rest}  # a\n    * {factor}  # b\n    # c\n)", f"{value * factor} // {factor}"]
    if value & (value - 1) == 0:
        power = value.bit_length() - 1
        forms += [f"2 ** {power}", f"1 << {power}"]
    return draw(st.sampled_from(forms))


@st.composite
def configs(draw: st.DrawFn, values: dict[str, object]) -> Config:
    """A config that sets ``values``, in any order and layout."""
    encoding, header, exotic = ENCODINGS[draw(st.sampled_from(sorted(ENCODINGS)))]
    comment = st.sampled_from(
        ["", "", "  # why", "\t# tab", f"  # {exotic}", "  # batch_size = 3", " #: x = 'y'", "#"]
    )
    filler = st.sampled_from(
        [
            *("", "", "", "\n", "\n\n", "   \n", "\x0c\n", "\t\n"),
            *("# batch_size = 999\n", "#gradient_accumulation_steps=2*3\n", f"# {exotic}\n"),
            *("wandb_run_name = 'x'  # name\n", "'''\nbatch_size = 3\n'''\n", "import os\n"),
            *("learning_rate = 6e-4; min_lr = 6e-5\n", "if os_is_here := False:\n    pass\n"),
        ]
    )
    blocked = False
    pieces = [Piece(header)]
    if draw(st.integers(0, 3)) == 0:
        pieces.append(Piece(f'"""{exotic}\n\nbatch_size = 7\n"""\n'))
    for key in draw(st.permutations(sorted(values))):
        pieces.append(Piece(draw(filler)))
        expression = draw(written(values[key]))
        layout = draw(st.sampled_from(LAYOUTS)) if key in PAIR else "plain"
        if layout == "twice":
            pieces.append(Piece(f"{key} = 5{draw(comment)}\n"))
        blocked |= layout in BLOCKED
        start, end = LAYOUT_TEXTS.get(layout, ("{key}{equals}", ""))
        equals = draw(st.sampled_from([" = ", " = ", "=", "  =  ", "\t= ", "        = "]))
        pieces.append(Piece(start.format(key=key, equals=equals, comment=draw(comment))))
        pieces.append(Piece(expression, key))
        pieces.append(Piece(f"{end}{draw(comment)}\n"))
        if layout == "augmented":
            pieces.append(Piece(f"{key} *= 1\n"))
    pieces.append(Piece(draw(filler)))
    tail = draw(st.sampled_from(["", "", "", "told", "dependent", "indented"]))
    if tail == "told":
        pieces.append(Piece("out_dir = f'out-{batch_size}'\n"))
    elif tail == "dependent":
        blocked = True
        pieces.append(Piece("tokens = batch_size * block_size  # a step\n"))
    elif tail == "indented":
        pieces.append(Piece("if True:\n\twandb_log = False  # off\n"))
    return _finished(draw, pieces, encoding, blocked, told=tail == "told")


LAYOUTS = [*["plain"] * 9, "twice", "annotated", "inline", "chained", "unpacked", "augmented"]
BLOCKED = {"chained", "unpacked", "augmented"}
LAYOUT_TEXTS = {
    "annotated": ("{key}: int{equals}", ""),
    "inline": ("seed = 1337; {key}{equals}", "; beta1 = 0.9"),
    "chained": ("{key} = same_{key}{equals}", ""),
    "unpacked": ("({key}, other_{key}) = (", ", 1)"),
}


@st.composite
def written(draw: st.DrawFn, value: object) -> str:
    """The expression for a value."""
    if isinstance(value, int) and not isinstance(value, bool):
        return draw(integers(value))
    if isinstance(value, str):
        return draw(st.sampled_from([repr(value), f'"{value}"', f"({value!r})"]))
    return draw(st.sampled_from([str(value), f"({value})"]))


def _finished(
    draw: st.DrawFn, pieces: list[Piece], encoding: str, blocked: bool, *, told: bool
) -> Config:
    newline = draw(st.sampled_from(NEWLINES))
    pieces = [piece for piece in pieces if piece.text]
    if draw(st.booleans()) and pieces[-1].key is None:
        pieces[-1] = Piece(pieces[-1].text.removesuffix("\n"))
    finished = tuple(Piece(piece.text.replace("\n", newline), piece.key) for piece in pieces)
    return Config(finished, encoding, blocked, told)
