"""From the text of a shell script to its tokens."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nanolint.launches.shell.tree import (
    Arithmetic,
    Array,
    Expansion,
    HereDocument,
    Literal,
    Opaque,
    Operator,
    ShellError,
    Word,
)

if TYPE_CHECKING:
    from nanolint.launches.shell.tree import Part, Token

_BLANK = " \t\r"
_ENDS_WORD = frozenset(" \t\r\n;&|<>()")
# Longest first, as a shell takes them.
_OPERATORS = (
    *("<<<", "<<-", "&>>", ";;&"),
    *("&&", "||", ";;", ";&", "|&", "<<", ">>", "<&", ">&", "<>", ">|", "&>"),
    *(";", "&", "|", "<", ">", "(", ")", "\n"),
)
_HERE = ("<<", "<<-")
_SUBSTITUTIONS = ("<(", ">(")  # of a process
_NAME = re.compile(r"[A-Za-z_]\w*")
_SPECIAL = "@*#?$!-0123456789"  # the one-letter names: $1, $@, ...
_ARRAY_BEGINS = re.compile(r"[A-Za-z_]\w*\+?=")
_BRACED = re.compile(r"([A-Za-z_]\w*|[0-9]+|[@*#?])(?:\[[@*]\])?(?:(:?[-=+?])(.*))?", re.DOTALL)
_ESCAPED_IN_QUOTES = '$`"\\\n'
MOST_NESTED = 40


def split(text: str) -> tuple[list[Token], ShellError | None]:
    """The tokens of ``text``, and what is wrong with it behind the last of them, if anything.

    A here-document follows the word that names its end. Comments are left out.
    """
    lexer = _Lexer(text)
    try:
        lexer.run()
    except ShellError as error:
        return lexer.tokens, error
    return lexer.tokens, None


class _Lexer:
    def __init__(self, text: str, depth: int = 0, shift: int = 0) -> None:
        self.text = text
        self._shift = shift  # where the text begins in the whole
        self.at = 0
        self.tokens: list[Token] = []
        self._depth = depth
        self._awaited: list[int] = []  # positions in tokens of words that end here-documents

    def run(self) -> None:
        while self._skip_blank():
            operator = self._operator()
            if operator is not None:
                self.at += len(operator)
                self.tokens.append(Operator(operator, self.at - len(operator)))
                if operator == "\n":
                    self._read_here_documents()
                continue
            here = bool(self.tokens) and isinstance(self.tokens[-1], Operator)
            here = here and self.tokens[-1].text in _HERE  # type: ignore[union-attr]
            word = self.word()
            # The 2 of 2>log belongs to the redirection.
            if word.plain is not None and word.plain.isdecimal() and self._peek() in ("<", ">"):
                continue
            self.tokens.append(word)
            if here:
                self._awaited.append(len(self.tokens) - 1)
        self._read_here_documents()

    def word(self) -> Word:
        """The word that begins here."""
        start = self.at
        parts: list[Part] = []
        bare = self.at
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == "(" and not parts and _ARRAY_BEGINS.fullmatch(self.text[start : self.at]):
                parts += [self._literal(start, self.at), self._array()]
                bare = self.at
            elif self.at == start and self.text.startswith(_SUBSTITUTIONS, start):
                self.at = self._closing("(", ")", start + 1) + 1
                parts.append(Opaque(self.text[start : self.at], quoted=True))
                bare = self.at
            elif char in _ENDS_WORD:
                break
            elif char in "\\'\"$`":
                if bare < self.at:
                    parts.append(self._literal(bare, self.at))
                parts += self._special(char)
                bare = self.at
            else:
                self.at += 1
        if bare < self.at:
            parts.append(self._literal(bare, self.at))
        if self.at == start:
            raise ShellError(f"{self._peek()} is unexpected", start)
        return Word(tuple(parts), start, self.at)

    def _literal(self, start: int, end: int, *, quoted: bool = False) -> Literal:
        return Literal(self.text[start:end], quoted, self._shift + start)

    def _peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def _skip_blank(self) -> bool:
        """Go to the next token; returns whether there is one."""
        while self.at < len(self.text):
            char = self.text[self.at]
            if char in _BLANK:
                self.at += 1
            elif self.text.startswith(("\\\n", "\\\r\n"), self.at):
                self.at = self.text.index("\n", self.at) + 1
            elif char == "#":
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            else:
                return True
        return False

    def _operator(self) -> str | None:
        if self.text.startswith(_SUBSTITUTIONS, self.at):
            return None
        return next((each for each in _OPERATORS if self.text.startswith(each, self.at)), None)

    def _array(self) -> Array:
        self.at += 1
        words = []
        while self._skip_blank() and self._peek() != ")":
            if self._peek() == "\n":
                self.at += 1
                continue
            words.append(self.word())
        self._close(")")
        return Array(tuple(words))

    def _close(self, bracket: str) -> None:
        if not self.text.startswith(bracket, self.at):
            raise ShellError(f"a {bracket} is missing", self.at)
        self.at += len(bracket)

    def _special(self, char: str) -> list[Part]:
        """The parts that begin with a backslash, a quote, a dollar or a backtick."""
        if char == "\\":
            start = self.at + 1
            self.at += 2
            escaped = self._literal(start, self.at, quoted=True)
            return [] if escaped.text == "\n" else [escaped]
        if char == "'":
            end = self._find("'", self.at + 1)
            start, self.at = self.at + 1, end + 1
            return [self._literal(start, end, quoted=True)]
        if char == '"':
            self.at += 1
            parts = self._quoted('"')
            self.at += 1
            return parts or [Literal("", quoted=True)]
        return [self._expansion(quoted=False)]

    def _quoted(self, end: str) -> list[Part]:
        """What stands between double quotes, up to ``end``."""
        parts: list[Part] = []
        first = begin = self.at
        while self.at < len(self.text) and self.text[self.at] != end:
            char = self.text[self.at]
            after = self.text[self.at + 1 : self.at + 2]
            escapes = char == "\\" and after and after in _ESCAPED_IN_QUOTES
            if not escapes and char not in "$`":
                self.at += 1
                continue
            if begin < self.at:
                parts.append(self._literal(begin, self.at, quoted=True))
            if escapes:  # what stands behind the backslash begins anew
                begin = self.at + 1 + (after == "\n")
                self.at += 2
            else:
                parts.append(self._expansion(quoted=True))
                begin = self.at
        if end and self.at >= len(self.text):
            raise ShellError("a quote is never closed", first - 1)
        if begin < self.at:
            parts.append(self._literal(begin, self.at, quoted=True))
        return parts

    def _expansion(self, *, quoted: bool) -> Part:
        start = self.at
        if self.text[start] == "`":
            self.at = self._find("`", start + 1) + 1
            return Opaque(self.text[start : self.at], quoted)
        if self.text.startswith("$((", start):
            end = self._closing("(", ")", start + 1)
            if self.text[end - 1 : end + 1] == "))":
                self.at = end + 1
                inside = self._quoted_parts(start + 3, end - 1)
                return Arithmetic(self.text[start : self.at], inside)
        if self.text.startswith("$(", start):
            self.at = self._closing("(", ")", start + 1) + 1
            return Opaque(self.text[start : self.at], quoted)
        if self.text.startswith("${", start):
            self.at = self._closing("{", "}", start + 1) + 1
            return self._braced(start, quoted=quoted)
        if self.text.startswith("$'", start):
            self.at = self._find("'", start + 2) + 1
            return Opaque(self.text[start : self.at], quoted)
        name = _NAME.match(self.text, start + 1)
        after = self.text[start + 1 : start + 2]
        if name is None and not (after and after in _SPECIAL):
            self.at += 1
            return Literal("$", quoted=True)
        found = name[0] if name else after
        self.at = start + 1 + len(found)
        return Expansion(f"${found}", quoted, found)

    def _braced(self, start: int, *, quoted: bool) -> Part:
        source = self.text[start : self.at]
        match = _BRACED.fullmatch(source[2:-1])
        if match is None:
            return Opaque(source, quoted)
        name, operator, default = match.groups()
        first = start + 2
        parts = self._quoted_parts(*(first + each for each in match.span(3))) if default else ()
        return Expansion(source, quoted, name, operator or "", parts)

    def _find(self, char: str, start: int) -> int:
        end = self.text.find(char, start)
        if end < 0:
            raise ShellError("a quote is never closed", start - 1)
        return end

    def _closing(self, opening: str, closing: str, start: int) -> int:
        """Where the bracket that opens at ``start`` is closed."""
        level, at = 0, start
        while at < len(self.text):
            char = self.text[at]
            if char == "\\":
                at += 1
            elif char == "'":
                at = self._find("'", at + 1)
            elif char == opening:
                level += 1
            elif char == closing:
                level -= 1
                if level == 0:
                    return at
            at += 1
        raise ShellError(f"a {closing} is missing", start)

    def _read_here_documents(self) -> None:
        """Take the lines that the commands of the line above read, in their order."""
        for inserted, position in enumerate(self._awaited):
            word, operator = (self.tokens[position + inserted - back] for back in (0, 1))
            assert isinstance(word, Word)
            assert isinstance(operator, Operator)
            end = "".join(each.text for each in word.parts if isinstance(each, Literal))
            quoted = any(isinstance(each, Literal) and each.quoted for each in word.parts)
            start, lines, starts = self.at, [], []
            while True:
                if self.at >= len(self.text):
                    raise ShellError(f"a here-document is never ended by {end}", start)
                newline = self.text.find("\n", self.at)
                stop = len(self.text) if newline < 0 else newline
                line, begin = self.text[self.at : stop].removesuffix("\r"), self.at
                self.at = min(stop + 1, len(self.text))
                if operator.text == "<<-":
                    begin += len(line) - len(line.lstrip("\t"))
                    line = line.lstrip("\t")
                if line == end:
                    break
                lines.append(line)
                starts.append(begin)
            body = HereDocument("\n".join(lines), start, quoted, tuple(starts))
            self.tokens.insert(position + inserted + 1, body)
        self._awaited = []

    def _quoted_parts(self, start: int, end: int) -> tuple[Part, ...]:
        """The characters as they are read between double quotes."""
        if self._depth >= MOST_NESTED:
            raise ShellError("variables are nested too deeply", 0)
        inside = _Lexer(self.text[start:end], depth=self._depth + 1, shift=self._shift + start)
        return tuple(inside._quoted(""))
