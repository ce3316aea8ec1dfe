"""Words with their variables and arithmetic filled in, as far as these are known.

A shell works out ``$((...))`` and the tests of ``if`` by itself.
"""

from __future__ import annotations

import ast
import operator
import re
from itertools import islice, product
from typing import TYPE_CHECKING

from nanolint.frozen import dataclass
from nanolint.launches.commands import Argument, argument
from nanolint.launches.placed import Placed, joined
from nanolint.launches.shell.tree import Arithmetic, Array, Expansion, Literal, Opaque
from nanolint.source.python import expression_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from nanolint.diagnostics import Span
    from nanolint.launches.shell.tree import Part, Word

OWN_FOLDER = "/.the-folder-of-the-script"  # which nobody has
MOST_CHARACTERS = 1 << 12  # of one word; variables made of variables could grow without end
NOWHERE = Placed("")  # the whole of a text that stands in no file as it is
MOST_SHOWN = 60  # characters of what is not known
MOST_WORDS = 1 << 10  # that one becomes
_ALL = ("@", "*")  # the arguments of a script or of a function
_BRACES = re.compile(r"\{([^{},\s]*(?:,[^{},\s]*)+|-?\d{1,4}\.\.-?\d{1,4})\}")
# $(dirname "$0"), and $(cd "$(dirname "$0")/.." && pwd), which leads on from there.
_SELF = r"""\$(?:0|\{0\}|BASH_SOURCE|\{BASH_SOURCE(?:\[0\])?(?::-\$0)?\})"""
_DIRNAME = rf"""\$\(\s*dirname\s+(?:--\s+)?"?{_SELF}"?\s*\)"""
_OWN_FOLDER = re.compile(
    rf"""{_DIRNAME}|\$\(\s*cd\s+(?:-P\s+)?(?:--\s+)?"?{_DIRNAME}((?:/\.\.)*)/?"?"""
    r"""\s*(?:&?>\s*/dev/null\s*(?:2>&1)?)?\s*&&\s*pwd(?:\s+-P)?\s*\)"""
)
_NO_BLANK = re.compile(r"\S+")
_GLOB = re.compile(r"[*?]")
_SPECIAL = re.compile(r"[*?{]")  # what does not stand for itself without quotes


@dataclass(frozen=True, slots=True)
class Scope:
    """What names stand for: a variable one word, an array several.

    ``arguments`` are those of the function at hand; None stands for those of the script.
    """

    variables: Mapping[str, tuple[Argument, ...]]
    arguments: tuple[Argument, ...] | None = None

    def values(self, name: str) -> tuple[Argument, ...] | None:
        """What ``name`` stands for, None where nothing in the script says so."""
        if name in _ALL:
            # A script that is started by itself has no arguments.
            return self.arguments or ()
        if name.isdecimal() and self.arguments is not None:
            at = int(name) - 1
            return self.arguments[at : at + 1] if at >= 0 else None
        return self.variables.get(name)

    def text(self, name: str) -> str | None:
        """The known text of a variable."""
        found = self.values(name)
        return found[0].text if found and found[0].unknown is None else None


def expand(word: Word, scope: Scope, whole: Placed = NOWHERE) -> list[Argument]:
    """The words that ``word`` becomes: none, one or several. ``whole`` is the text it stands in."""
    place = whole.span(word.start, word.end)
    if word.plain is not None and not _SPECIAL.search(word.plain):
        return [argument(_letters(word.parts[0], whole), None, place)]
    found: list[Argument] = []
    for parts in _without_braces(word.parts):
        builder = _Builder(scope, whole)
        for part in parts:
            builder.add(part)
        found += builder.finished(place)
    return found[:MOST_WORDS]


def one_word(parts: Sequence[Part], scope: Scope, whole: Placed = NOWHERE) -> Argument:
    """The parts as one word, as after ``NAME=`` and between double quotes."""
    texts: list[Placed] = []
    unknown = None
    for part in parts:
        builder = _Builder(scope, whole)
        builder.add(part)
        found = builder.finished(None)
        texts.append(joined((each.placed for each in found), " "))
        unknown = unknown or next((each.unknown for each in found if each.unknown), None)
    return _bounded(joined(texts), unknown, None)


def _letters(part: Part, whole: Placed) -> Placed:
    """The text of a literal, with its places."""
    assert isinstance(part, Literal)
    if part.start is None or not whole.pieces:
        return Placed(part.text)
    return whole.part(part.start, part.start + len(part.text))


class _Builder:
    def __init__(self, scope: Scope, whole: Placed) -> None:
        self._scope = scope
        self._whole = whole
        self._done: list[tuple[Placed, str | None]] = []
        self._texts: list[Placed] = []
        self._unknown: str | None = None
        self._begun = False  # an empty word in quotes is a word

    def finished(self, place: Span | None) -> list[Argument]:
        self._next()
        return [_bounded(text, unknown, place) for text, unknown in self._done]

    def add(self, part: Part) -> None:
        if isinstance(part, Literal):
            self._append(_letters(part, self._whole))
            self._begun = self._begun or part.quoted
            if not part.quoted and _GLOB.search(part.text):
                self._hide(part.text)
        elif isinstance(part, Arithmetic):
            text = one_word(part.inside, self._scope)
            value = None if text.unknown else number(text.text, self._scope.text)
            self._append(Placed(part.source if value is None else str(value)))
            if value is None:
                self._hide(part.source)
        elif isinstance(part, Opaque):
            own = _OWN_FOLDER.fullmatch(part.source)
            self._append(Placed(part.source if own is None else f"{OWN_FOLDER}{own[1] or ''}"))
            if own is None:
                self._hide(part.source)
        elif isinstance(part, Expansion):
            self._add_variable(part)
        elif isinstance(part, Array):
            self._hide("an array")

    def _add_variable(self, part: Expansion) -> None:
        several = part.name in _ALL or "[@]" in part.source or "[*]" in part.source
        values = _chosen(part, self._scope, self._whole)
        if values is None:
            self._append(Placed(part.source))
            self._hide(part.source)
            return
        self._begun = self._begun or (part.quoted and not several)
        for position, value in enumerate(values if several else values[:1]):
            if position:
                self._next()
            if part.quoted or value.unknown is not None:  # how a text splits that nobody knows?
                self._append(value.placed)
                self._begun = True
            else:
                self._split(value.placed)
            self._unknown = self._unknown or value.unknown

    def _split(self, placed: Placed) -> None:
        """Add what stands without quotes: its blanks end words."""
        text = placed.text
        if text[:1].isspace():
            self._next()
        for position, match in enumerate(islice(_NO_BLANK.finditer(text), MOST_WORDS)):
            if position:
                self._next()
            self._append(placed.part(*match.span()))
        if text[-1:].isspace():
            self._next()

    def _append(self, placed: Placed) -> None:
        if placed.text:
            self._texts.append(placed.part(0, MOST_CHARACTERS))

    def _hide(self, source: str) -> None:
        shown = " ".join(source.split())
        shown = shown if len(shown) <= MOST_SHOWN else f"{shown[: MOST_SHOWN - 3]}..."
        self._unknown = self._unknown or f"{shown} is known only at run time"

    def _next(self) -> None:
        if self._texts or self._begun:
            self._done.append((joined(self._texts), self._unknown))
        self._texts, self._unknown, self._begun = [], None, False


def _bounded(placed: Placed, unknown: str | None, place: Span | None) -> Argument:
    if len(placed.text) > MOST_CHARACTERS:
        unknown = "it is too long for a word of a launch line"
        return argument(placed.part(0, MOST_CHARACTERS), unknown, place)
    return argument(placed, unknown, place)


def _chosen(part: Expansion, scope: Scope, whole: Placed) -> tuple[Argument, ...] | None:
    """What a variable stands for, or what stands in its place where it is not set."""
    values = scope.values(part.name)
    empty = part.operator.startswith(":") and values is not None and not _any_text(values)
    unset = values is None or empty
    if part.operator.endswith("+"):
        return (Argument(""),) if unset else (one_word(part.default, scope, whole),)
    if unset and part.operator.endswith(("-", "=")):
        return (one_word(part.default, scope, whole),)
    return values


def _any_text(values: Sequence[Argument]) -> bool:
    return any(each.text or each.unknown for each in values)


def _without_braces(parts: tuple[Part, ...]) -> Iterator[tuple[Part, ...]]:
    """The words that ``a{b,c}`` and ``a{1..3}`` stand for."""
    choices: list[list[Part]] = []
    for part in parts:
        if isinstance(part, Literal) and not part.quoted and "{" in part.text:
            choices.append([Literal(each, quoted=False) for each in _alternatives(part.text)])
        else:
            choices.append([part])
    for position, chosen in enumerate(product(*choices)):
        if position >= MOST_WORDS:
            return
        yield chosen


def _alternatives(text: str) -> list[str]:
    found = [text]
    while len(found) <= MOST_WORDS and (match := _BRACES.search(found[0])):
        inside = match[1]
        if ".." in inside and "," not in inside:
            first, last = map(int, inside.split(".."))
            step = 1 if first <= last else -1
            options = [str(each) for each in range(first, last + step, step)][:MOST_WORDS]
        else:
            options = inside.split(",")
        # All of one text: what stands before the braces is the same in each.
        replaced = []
        for each in found:
            at = _BRACES.search(each)
            assert at is not None
            replaced += [each[: at.start()] + option + each[at.end() :] for option in options]
        found = replaced
    return found[:MOST_WORDS]


LONGEST = 200  # characters of an expression
_LARGEST = 1 << 63
_OPERATIONS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}
_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    f"-{each}": getattr(operator, each) for each in ("eq", "ne", "lt", "le", "gt", "ge")
}


def number(text: str, variable: Callable[[str], str | None]) -> int | None:
    """The value of an expression of whole numbers; None where that cannot be told.

    >>> number("512 / BS", {"BS": "8"}.get)
    64
    """
    if len(text) > LONGEST:
        return None
    try:
        return _evaluate(expression_tree(text.strip().replace("/", "//")), variable)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _evaluate(node: ast.expr, variable: Callable[[str], str | None]) -> int | None:
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int else None
    if isinstance(node, ast.Name):
        text = variable(node.id)
        return int(text) if text is not None and text.isdecimal() else None
    if not isinstance(node, ast.BinOp):
        return None
    left, right = _evaluate(node.left, variable), _evaluate(node.right, variable)
    if left is None or right is None:
        return None
    if isinstance(node.op, (ast.FloorDiv, ast.Mod)):
        if left < 0 or right <= 0:  # a shell rounds towards zero, Python downwards
            return None
        return left // right if isinstance(node.op, ast.FloorDiv) else left % right
    operation = _OPERATIONS.get(type(node.op))
    value = operation(left, right) if operation else None
    return value if value is not None and abs(value) < _LARGEST else None


def holds(words: Sequence[Argument]) -> bool | None:
    """Whether ``[ ... ]`` succeeds; None where that cannot be told."""
    if words[0].text == "((":
        return None
    inner = words[1:-1] if words[-1].text in ("]", "]]") else words[1:]
    if any(word.unknown is not None for word in inner):
        return None
    texts = [word.text for word in inner]
    if texts[:1] == ["!"]:
        texts, negated = texts[1:], True
    else:
        negated = False
    found = _simple(texts)
    return None if found is None else found is not negated


def _simple(texts: Sequence[str]) -> bool | None:
    if len(texts) == 2 and texts[0] in ("-n", "-z"):
        return (texts[0] == "-z") is not bool(texts[1])
    if len(texts) != 3:
        return None
    left, test, right = texts
    if test in ("=", "==", "!=") and not set(right) & set("*?["):
        return (left == right) is (test != "!=")
    if test in _COMPARISONS and left.isdecimal() and right.isdecimal():
        return _COMPARISONS[test](int(left), int(right))
    return None
