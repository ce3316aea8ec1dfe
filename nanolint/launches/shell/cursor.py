"""A place among the tokens of a shell script, which moves on as they are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.launches.shell.tokens import Operator, ShellError, Word

if TYPE_CHECKING:
    from nanolint.launches.shell.tokens import Token


class Cursor:
    """The next of ``tokens``; the script ends at the character ``end``."""

    def __init__(self, tokens: list[Token], end: int) -> None:
        self.tokens = tokens
        self.at = 0
        self.end = end

    def name(self) -> Word:
        """The name that comes next; raises ShellError for anything else."""
        token = self.token()
        if not isinstance(token, Word):
            raise ShellError("a name is missing", self.offset())
        self.at += 1
        return token

    def expect(self, keyword: str) -> None:
        """Go past ``keyword``; raises ShellError where it is missing."""
        if self.keyword() != keyword:
            raise ShellError(f"{keyword} is missing", self.offset())
        self.at += 1

    def skip_newlines(self) -> None:
        """Go past empty lines."""
        while self.operator() == "\n":
            self.at += 1

    def peek(self, ahead: int) -> Token | None:
        """The token ``ahead`` of the next one, None behind the last."""
        at = self.at + ahead
        return self.tokens[at] if at < len(self.tokens) else None

    def token(self) -> Token | None:
        """The next token, None behind the last."""
        return self.peek(0)

    def operator(self) -> str | None:
        """The text of the next token, if it is an operator."""
        token = self.token()
        return token.text if isinstance(token, Operator) else None

    def keyword(self) -> str | None:
        """The text of the next token, if it is a word without quotes or variables."""
        token = self.token()
        return token.plain if isinstance(token, Word) else None

    def offset(self) -> int:
        """The character at which the next token starts."""
        token = self.token()
        return self.end if token is None else token.start

    def described(self) -> str:
        """The next token, for a message."""
        operator = self.operator()
        return self.keyword() or ("the end of the line" if operator == "\n" else operator) or "this"
