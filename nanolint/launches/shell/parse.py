"""From the tokens of a shell script to the tree of its commands."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nanolint.launches.shell.split import split
from nanolint.launches.shell.tree import (
    REDIRECTIONS,
    Branches,
    Chain,
    Command,
    For,
    Function,
    Group,
    HereDocument,
    Literal,
    Operator,
    ShellError,
    While,
    Word,
)

if TYPE_CHECKING:
    from collections.abc import Collection

    from nanolint.launches.shell.tree import Block, Node, Token


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


MOST_NESTED = 30
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_SEPARATORS = frozenset({";", "&", "\n"})
_CASE_ENDS = frozenset({";;", ";&", ";;&"})
_LOOPS = ("while", "until")


def parse(text: str) -> tuple[Block, ShellError | None]:
    """The commands of ``text``, and what is wrong with it behind the last of them, if anything."""
    tokens, flaw = split(text)
    if flaw is not None:  # the command that it cuts off is not one
        while tokens and not (isinstance(tokens[-1], Operator) and tokens[-1].text == "\n"):
            tokens.pop()
    parser = _Parser(tokens, len(text))
    commands: list[Node] = []
    try:
        while parser.skip_separators():
            commands.append(parser.chain())
    except ShellError as error:
        return tuple(commands), error if flaw is None or error.offset < flaw.offset else flaw
    return tuple(commands), flaw


class _Parser(Cursor):
    def __init__(self, tokens: list[Token], end: int) -> None:
        super().__init__(tokens, end)
        self._depth = 0

    def skip_separators(self) -> bool:
        """Go to the next command; returns whether there is one."""
        while self.operator() in _SEPARATORS:
            self.at += 1
        return self.at < len(self.tokens)

    def chain(self) -> Node:
        """Commands joined by ``&&`` and ``||``."""
        self._depth += 1
        if self._depth > MOST_NESTED:
            raise ShellError("commands are nested too deeply", self.offset())
        node = self._pipe()
        while (operator := self.operator()) in ("&&", "||"):
            self.at += 1
            self.skip_newlines()
            node = Chain(node, operator, self._pipe())
        self._depth -= 1
        return node

    def _pipe(self) -> Node:
        while self.keyword() in ("!", "time"):
            self.at += 1
        parts = [self._command()]
        while self.operator() in ("|", "|&"):
            self.at += 1
            self.skip_newlines()
            parts.append(self._command())
        return parts[0] if len(parts) == 1 else Group(tuple(parts), subshell=True)

    def _command(self) -> Node:
        start, keyword = self.offset(), self.keyword()
        node: Node | None = None
        if self.operator() == "(":
            node = self._parentheses(start)
        elif keyword == "{":
            self.at += 1
            node = Group(self._block(("}",)), subshell=False)
            self.expect("}")
        elif keyword == "if":
            node = self._if(start)
        elif keyword in ("for", "select"):
            node = self._for(start)
        elif keyword in _LOOPS:
            self.at += 1
            test = self._block(("do",))
            node = While(start, test, self._do())
        elif keyword == "case":
            node = self._case(start)
        elif keyword == "function":
            self.at += 1
            node = self._function(self.name())
        elif keyword == "[[":
            return self._test(start)
        if node is not None:
            self._redirections()
            return node
        return self._simple(start)

    def _simple(self, start: int) -> Node:
        assignments: list[Word] = []
        words: list[Word] = []
        writes: list[Word] = []
        here: HereDocument | None = None
        while (token := self.token()) is not None:
            if isinstance(token, Operator):
                if token.text not in REDIRECTIONS:
                    break
                writes += self._redirection()
                continue
            self.at += 1
            if isinstance(token, HereDocument):
                here = token
            elif not words and _assigns(token):
                assignments.append(token)
            else:
                words.append(token)
                if len(words) == 1 and not assignments and self._is_definition():
                    self.at += 2
                    return self._function(token)
        if not assignments and not words and not writes:
            raise ShellError(f"{self.described()} is unexpected", self.offset())
        return Command(start, tuple(assignments), tuple(words), tuple(writes), here)

    def _redirection(self) -> list[Word]:
        """Skip a redirection; returns the file that it writes, if any."""
        operator, target = self.operator(), self.peek(1)
        self.at += 1
        if not isinstance(target, Word):
            raise ShellError("a redirection has no target", self.offset())
        self.at += 1
        return [target] if operator in (">", ">>", ">|", "&>", "&>>") else []

    def _redirections(self) -> None:
        while True:
            if isinstance(self.token(), HereDocument):
                self.at += 1
            elif self.operator() in REDIRECTIONS:
                self._redirection()
            else:
                return

    def _is_definition(self) -> bool:
        following = [self.peek(0), self.peek(1)]
        return [each.text for each in following if isinstance(each, Operator)] == ["(", ")"]

    def _function(self, name: Word) -> Node:
        if self.operator() == "(":
            self.at += 2
        self.skip_newlines()
        return Function(name.plain or "", self._command())

    def _parentheses(self, start: int) -> Node:
        self.at += 1
        inner = self.token()
        if isinstance(inner, Operator) and inner.text == "(" and inner.start == start + 1:
            return self._until_double_parenthesis(start)
        body = self._block((), ")")
        if self.operator() != ")":
            raise ShellError("a ) is missing", self.offset())
        self.at += 1
        return Group(body, subshell=True)

    def _until_double_parenthesis(self, start: int) -> Node:
        """Skip ``((...))``, which no launch depends on but through variables."""
        level = 1
        while level and self.token() is not None:
            level += {"(": 1, ")": -1}.get(self.operator() or "", 0)
            self.at += 1
        word = Word((Literal("((", quoted=False),), start, start + 2)
        return Command(start, (), (word,))

    def _test(self, start: int) -> Node:
        """``[[ ... ]]``, whose operators are its own."""
        words = []
        while (token := self.token()) is not None:
            self.at += 1
            if isinstance(token, Word):
                words.append(token)
                if token.plain == "]]":
                    return Command(start, (), tuple(words))
            elif isinstance(token, Operator):
                words.append(
                    Word((Literal(token.text, quoted=True),), token.start, token.start + 1)
                )
        raise ShellError("a ]] is missing", self.offset())

    def _if(self, start: int) -> Node:
        tests, bodies = [], []
        may_skip = True
        while self.keyword() in ("if", "elif"):
            self.at += 1
            tests.append(self._block(("then",)))
            self.expect("then")
            bodies.append(self._block(("elif", "else", "fi")))
        if self.keyword() == "else":
            self.at += 1
            bodies.append(self._block(("fi",)))
            may_skip = False
        self.expect("fi")
        return Branches(start, "if", tuple(tests), tuple(bodies), may_skip)

    def _case(self, start: int) -> Node:
        self.at += 1
        self.name()
        self.skip_newlines()
        self.expect("in")
        bodies, patterns = [], []
        while self.skip_separators() and self.keyword() != "esac":
            if self.operator() == "(":
                self.at += 1
            while self.operator() != ")":
                patterns.append(self.described())
                if self.token() is None:
                    raise ShellError("an esac is missing", self.offset())
                self.at += 1
            self.at += 1
            bodies.append(self._block(("esac",), *_CASE_ENDS))
            if self.operator() in _CASE_ENDS:
                self.at += 1
        self.expect("esac")
        return Branches(start, "case", (), tuple(bodies), may_skip="*" not in patterns)

    def _for(self, start: int) -> Node:
        self.at += 1
        if self.operator() == "(":
            self._parentheses(self.offset())
            name = ""
        else:
            name = self.name().plain or ""
        words: list[Word] | None = None
        self.skip_newlines()
        if self.keyword() == "in":
            self.at += 1
            words = []
            while isinstance(token := self.token(), Word):
                words.append(token)
                self.at += 1
        self.skip_separators()
        return For(start, name, None if words is None else tuple(words), self._do())

    def _do(self) -> Block:
        if self.keyword() == "{":
            self.at += 1
            body = self._block(("}",))
            self.expect("}")
            return body
        self.expect("do")
        body = self._block(("done",))
        self.expect("done")
        return body

    def _block(self, ends: Collection[str], *operators: str) -> Block:
        """Commands up to one of the keywords ``ends`` or of ``operators``."""
        nodes: list[Node] = []
        while self.skip_separators():
            if self.keyword() in ends or self.operator() in operators:
                break
            nodes.append(self.chain())
        return tuple(nodes)


def _assigns(word: Word) -> bool:
    first = word.parts[0] if word.parts else None
    return isinstance(first, Literal) and not first.quoted and bool(_ASSIGNMENT.match(first.text))
