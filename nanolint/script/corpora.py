"""Contents of data files: texts, and numbers, more of them than any run reads.

Of a text that is here its characters are known, as their count may be a vocabulary; so they are of
one that the script downloads, if it is known which one it is. The tokens of a text, and a list of
numbers that has one for each character, are arrays that are long enough, as a file of tokens is.
"""

from __future__ import annotations

import ast
from itertools import cycle, islice
from typing import TYPE_CHECKING

from nanolint.interpreter.certain import is_certain
from nanolint.interpreter.exceptions import CATCHABLE, let_go
from nanolint.interpreter.expressions import MANY
from nanolint.interpreter.torch.calling import taken
from nanolint.interpreter.values import (
    Instance,
    Namespace,
    Native,
    Raised,
    Unknown,
    Unread,
    silent,
)
from nanolint.interpreter.watched import Index, Size
from nanolint.run.downloads import (
    ASSUMED,
    CHARACTERS,
    COUNT,
    OF_TEXTS,
    OF_TOKENIZERS,
    SHAKESPEARE,
    letters,
)
from nanolint.script import settings
from nanolint.script.arrays import LOADS, TOKENS, are_numbers, is_tokens
from nanolint.script.chances import DATA
from nanolint.script.lengths import Lengths
from nanolint.tensors.dtypes import INT64
from nanolint.tensors.tensor import Tensor, empty

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nanolint.interpreter.scopes import Frame
    from nanolint.interpreter.values import Place, Value
    from nanolint.script.machine import Script

ENCODERS = frozenset({"encode", "encode_ordinary", "encode_as_ids", "EncodeAsIds"})
CHANGES = frozenset({"lower", "upper", "replace", "strip", "lstrip", "rstrip", "decode", "join"})
CUTS = frozenset({"split", "splitlines"})
MOST_WORDS = 100_000  # of a text, which a program goes through
FEW_CHARACTERS = 10  # a table of so many has those of a text
COLLECTS = frozenset({"append", "extend"})
# Methods and functions that make samples of texts.
MAKES = COLLECTS | {
    *("LongTensor", "as_tensor", "clone", "copy", "encode", "format", "get", "join", "long"),
    *("lower", "replace", "split", "squeeze", "strip", "tensor", "upper"),
}
ENDLESS = TOKENS >> 16  # turns that no loop has but one over the data


class Text(Unknown):
    """The text of a file, or a part of it; ``characters`` are those that it has, ``count`` is how
    many, ``content`` the text itself, ``path`` that of the whole file."""

    __slots__ = ("characters", "content", "count", "path")

    def __init__(
        self,
        place: Place,
        characters: str | None,
        path: str | None = None,
        count: int | None = None,
        content: str | None = None,
    ) -> None:
        super().__init__("the contents of a file", place)
        self.characters = characters
        self.path = path
        self.count = count
        self.content = content

    def part(self, place: Place, index: Value) -> Text:
        """Returns ``text[index]``."""
        if self.count is None or not isinstance(index, slice):
            return Text(place, None)
        bounds = (index.start, index.stop, index.step)
        if not all(each is None or type(each) is int for each in bounds):
            return Text(place, None)
        if self.content is not None:
            return of_content(place, self.content[index])
        return Text(place, None, count=len(range(self.count)[index]))


def characters_of(machine: Script, text: Text) -> str:
    """The characters of a text; of one that is not here as many as the vocabulary has."""
    if text.characters:
        return text.characters
    what = "characters", text.path or "a text"
    return letters(taken(machine, _vocabulary(machine, text, OF_TEXTS, what, machine.place)))


def of_tokenizer(machine: Script, owner: Unknown) -> int | Size:
    """How many tokens a tokenizer has that is not here."""
    what = "tokens", "a tokenizer"
    return _vocabulary(machine, owner, OF_TOKENIZERS, what, owner.place)


def _vocabulary(
    machine: Script, of: Unknown, sizes: tuple[int, int], what: tuple[str, str], place: Place
) -> int | Size:
    """The size of a vocabulary that is not here: as the command line says, else one of ``sizes``.
    ``what`` it has, and whose it is."""
    if machine.around.vocabulary is not None:
        return machine.around.vocabulary
    (usual, most), (parts, owner) = sizes, what
    assumed = f"{ASSUMED} {usual:,} {parts}, {most:,} at most, for {owner} ({place})"
    return Size(of, most if machine.around.widest else usual, assumed)


def of_content(place: Place, content: str) -> Text:
    """A text that is known whole."""
    return Text(place, "".join(sorted(set(content))), count=len(content), content=content)


class Endless(Unread):
    """A text is iterated: it has more characters than any run reads, or ``count`` of them."""

    def __init__(self, text: Text) -> None:
        super().__init__(text.reason, text.place)
        self.count = text.count


def attribute_of(machine: Script, owner: Text, name: str) -> Value:
    """A method of a text: what it gives is a text again, of characters that are not known, or what
    the text itself gives."""
    content = owner.content
    if name == "encode":
        return Native(name, lambda *given: _bytes(machine, owner, given), plain=False)
    if content is not None and name in {*CHANGES, *CUTS}:
        return Native(name, lambda *given: _told(machine, content, name, given), plain=False)
    if name in CHANGES:
        kept = owner.characters if name == "decode" else None
        return Native(name, lambda *_, **__: Text(machine.place, kept), plain=False)
    return owner.bare()


def put_together(machine: Script, plainly: Value) -> Native:
    """``"".join``: of a text, that text."""

    def join(parts: Value) -> Value:
        return parts if isinstance(parts, Text) else machine.call(plainly, [parts])

    return Native("str.join", join, plain=False)


def _bytes(machine: Script, text: Text, given: tuple[Value, ...]) -> Tensor:
    """``text.encode()``: a number for each byte."""
    if text.content is None or given not in ((), ("utf-8",), ("utf8",)):
        return tokens(machine)
    return tokens(machine, len(text.content.encode("utf-8", "replace")))


def _told(machine: Script, content: str, name: str, given: tuple[Value, ...]) -> Value:
    """What a method of a known text gives; of many words it is not known."""
    if not hasattr(content, name) or not all(isinstance(each, (str, int)) for each in given):
        return Text(machine.place, None)
    found = getattr(content, name)(*given)
    if isinstance(found, str):
        return of_content(machine.place, found)
    return found if len(found) <= MOST_WORDS else machine.unknown("the contents of a file")


def encoder(machine: Script, owner: Unknown, name: str) -> Native:
    """``tokenizer.encode`` of a package that is not read.

    Of a text that is known it makes at most a token for each byte: so many are taken.
    """

    def encode(text: Value = None, *_: Value, **options: Value) -> Value:
        if options.get("return_tensors") == "pt" and isinstance(text, Unknown):
            return empty(machine.host, (1, TOKENS), INT64, DATA)
        if "return_tensors" in options:
            return owner.bare()
        if isinstance(text, str):
            count = len(text.encode())
            machine.made_up.add(count)
            taken = f"assuming that a text has {count} tokens ({machine.place})"
            machine.at_most.append((taken, len(machine.card.tape.events)))
            return [Index("a token", machine.place, object()) for _ in range(count)]
        return tokens(machine) if isinstance(text, Unknown) else owner.bare()

    return Native(name, encode, plain=False)


def tokens(machine: Script, count: int | None = None) -> Tensor:
    """So many numbers, or as many as any run reads."""
    return empty(machine.host, (count or TOKENS,), INT64, DATA)


def joined(machine: Script, left: Value, right: Value) -> Tensor | None:
    """``[first] + encode(text) + [last]``: as many as any run reads, though a text may be short."""
    for one, other in ((left, right), (right, left)):
        if isinstance(one, list) and isinstance(other, Tensor) and is_tokens(other):
            settings.doubt(machine, "assuming that a text is as long as its limit")
            return other
    return None


def are_in_order(x: Value) -> bool:
    """Whether a list of its elements is the same to us: a text, or a file of tokens."""
    return isinstance(x, Text) or (isinstance(x, Tensor) and is_tokens(x))


def are_tokens(x: Value) -> bool:
    """Whether a window of it is as long as it says: of few, too, or no batch could be made."""
    return isinstance(x, Tensor) and (is_tokens(x) or are_numbers(x))


def numbered(machine: Script, node: ast.ListComp, frame: Frame, error: Unread) -> Value:
    """``[table[each] for each in text]``: a number for each character. Raises ``error`` else."""
    one = node.generators[0]
    if len(node.generators) > 1 or not isinstance(one.target, ast.Name):
        raise error
    table = _table(node.elt, one.target.id)
    if any(not _is_in(each, one.target.id, table) for each in one.ifs):
        raise error
    looked_up = isinstance(node.elt, (ast.Subscript, ast.Call))
    if isinstance(error, Endless) and looked_up:
        return tokens(machine, None if one.ifs else error.count)
    if not isinstance(one.iter, (ast.Name, ast.Attribute)):
        raise error
    is_text = table is not None and _numbers_characters(machine.evaluate(table, frame))
    if is_text and isinstance(machine.evaluate(one.iter, frame), Unknown):
        return tokens(machine)
    raise error


def _table(element: ast.expr, target: str) -> ast.expr | None:
    """``table`` of ``table[each]`` and ``table.get(each, 0)``: a name, or an attribute of one."""
    found, key = None, None
    if isinstance(element, ast.Subscript):
        found, key = element.value, element.slice
    elif isinstance(element, ast.Call) and isinstance(element.func, ast.Attribute):
        is_get = element.func.attr == "get" and element.args
        found, key = (element.func.value, element.args[0]) if is_get else (None, None)
    owner = found.value if isinstance(found, ast.Attribute) else found
    is_plain = isinstance(owner, ast.Name) and isinstance(key, ast.Name) and key.id == target
    return found if is_plain else None


def _is_in(test: ast.expr, target: str, table: ast.expr | None) -> bool:
    """``each in table``."""
    return (
        table is not None
        and isinstance(test, ast.Compare)
        and isinstance(test.left, ast.Name)
        and test.left.id == target
        and [type(each) for each in test.ops] == [ast.In]
        and ast.dump(test.comparators[0]) == ast.dump(table)
    )


def _numbers_characters(table: Value) -> bool:
    """Whether it has a number for each character that there may be."""
    if not isinstance(table, dict) or len(table) < FEW_CHARACTERS:
        return False
    return all(isinstance(key, str) and (len(key) == 1 or key[:1] == "<") for key in table)


def is_endless(values: Value) -> bool:
    """Whether a loop over these goes through the data."""
    return isinstance(values, range) and len(values) > ENDLESS


def is_data(values: Value) -> bool:
    """Whether a loop over these may go through the data."""
    return is_endless(values) or (isinstance(values, Unknown) and not isinstance(values, Text))


def passed_through(machine: Script, values: Value) -> Value:
    """Returns a stand-in for each place of the data, if ``values`` are these; else None."""
    if not is_endless(values):
        return None
    machine.made_up.add(MANY)  # how many they are
    return Index("a place in the data", machine.place, object())


def fill(machine: Script, node: ast.For, frame: Frame, values: Value) -> bool:
    """Read one turn of a loop over the data, and let the lists that it adds to have many elements.

    False, with nothing changed but names, if the loop does something else.
    """
    if isinstance(values, Unknown):
        return _fill_with_samples(machine, node, frame, values)
    place = Index("a place in the data", machine.place, object())
    return _fill(machine, node, frame, place, lambda _: True)


def _only_collects(machine: Script, node: ast.For, frame: Frame) -> bool:
    """Whether a loop calls nothing but what makes samples of texts, and lists that take them."""
    calls = [each.func for each in ast.walk(node) if isinstance(each, ast.Call)]
    attributes = [each.attr for each in calls if isinstance(each, ast.Attribute)]
    if not COLLECTS & {*attributes}:
        return False
    for each in calls:
        if isinstance(each, ast.Attribute) and each.attr in MAKES:
            continue
        if any(isinstance(part, ast.Call) for part in ast.walk(each)):
            return False
        try:
            function = machine.evaluate(each, frame)
        except (Unread, Raised, *CATCHABLE) as error:
            let_go(error)
            return False
        is_pythons = isinstance(each, ast.Name) and isinstance(function, Native)
        if not isinstance(function, Unknown) and not is_pythons:
            return False
    return True


def _fill_with_samples(machine: Script, node: ast.For, frame: Frame, texts: Unknown) -> bool:
    """``for text in lines: samples.append(torch.tensor(tokenizer(text, ...)["input_ids"]))``."""
    if not _only_collects(machine, node, frame):
        return False
    outside, lengths = machine.lengths, Lengths()
    machine.lengths = lengths

    def are_samples(made: list[Value]) -> bool:
        return lengths.are_bounded and any(isinstance(each, (Tensor, list)) for each in made)

    try:
        filled = _fill(machine, node, frame, texts.bare(), are_samples)
    except (Unread, Raised, *CATCHABLE) as error:
        if is_certain(error):
            raise
        let_go(error)
        filled = False
    finally:
        machine.lengths = outside
    if filled and lengths.were_asked:
        settings.doubt(machine, "assuming that a text is as long as its limit")
    return filled


def _fill(
    machine: Script,
    node: ast.For,
    frame: Frame,
    element: Value,
    is_wanted: Callable[[list[Value]], bool],
) -> bool:
    tape = machine.card.tape
    written, passed = len(tape.events), machine.passed
    lists = list(_lists(node, frame))
    lengths = [len(each) for each in lists]
    machine.assign(node.target, element, frame)
    ended = machine.execute(node.body, frame)
    grown = [(each, size) for each, size in zip(lists, lengths, strict=True) if len(each) > size]
    made = [each for new, size in grown for each in new[size:]]
    if (
        ended is not None
        or machine.passed != passed
        or len(tape.events) != written
        or not grown
        or not is_wanted(made)
    ):
        for each, size in grown:
            del each[size:]
        return False
    for each, size in grown:
        each.extend(islice(cycle(each[size:]), max(0, MANY - len(each))))
        machine.made_up.add(len(each))  # how many they are
    return True


def _lists(node: ast.For, frame: Frame) -> Iterator[list[Value]]:
    """The lists that the body of a loop may add to."""
    seen: set[int] = set()
    for each in ast.walk(node):
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute):
            owner = each.func.value
            value: Value = None
            if isinstance(owner, ast.Name):
                value = frame.find(owner.id)
            elif isinstance(owner, ast.Attribute) and isinstance(owner.value, ast.Name):
                of = frame.find(owner.value.id)
                value = of.attributes.get(owner.attr) if isinstance(of, Instance) else None
            if isinstance(value, list) and id(value) not in seen:
                seen.add(id(value))
                yield value


def is_much(machine: Script, owner: Value) -> bool:
    """Whether it is not known how much this is: on the card nobody knows what it would take."""
    if isinstance(owner, Unknown):
        return True
    on_host = isinstance(owner, Tensor) and owner.device is machine.host
    return on_host and any(each >= ENDLESS for each in owner.shape)


def _is_batch(machine: Script, owner: Unknown) -> bool:
    """Whether what is moved to the card can be no more than a batch."""
    loaded = machine.phases.learns or owner.reason.startswith(LOADS)
    return loaded and all(machine.around.shape)


def moved(
    machine: Script, owner: Value, plainly: Value, name: str, *given: Value, **named: Value
) -> Value:
    """``x.to(device)`` of data of unknown size: on the card, while training, it is taken for a
    batch.

    Raises Unread if it goes to the card and cannot be taken for one.
    """
    for each in (*given, *named.values()):
        is_number = type(each) is int  # of a card
        if each is machine.card or is_number or (isinstance(each, str) and each[:4] == "cuda"):
            name = "cuda"
    if not isinstance(owner, Unknown) and name != "cuda":
        return machine.call(plainly, list(given), named)
    batch, context = machine.around.shape
    size = f"{batch:,} x {context:,} tokens"
    doubt = f"assuming that the data moved to the card has {size} ({machine.place}): "
    # What makes batches to learn from may make those of an evaluation, too.
    makes_batches = any(each.startswith(doubt) for each in machine.doubts)
    is_batch = isinstance(owner, Unknown) and (makes_batches or _is_batch(machine, owner))
    if name == "cuda" and isinstance(owner, Unknown) and is_batch:
        if not makes_batches:
            machine.doubts.append(f"{doubt}{owner.reason}")
        return empty(machine.card, machine.around.shape, INT64, DATA)
    if name == "cuda":
        why = owner.reason if isinstance(owner, Unknown) else "as much as there is data"
        error = machine.unread(f"the size of the data moved to the card is not known ({why})")
        error.decided = True
        raise error
    return owner


CHUNKS = "a download"


class Answer(Namespace):
    """The answer to a request; it may stand in a ``with``."""

    def __init__(self, names: dict[str, Value]) -> None:
        super().__init__("answer", names)


def downloads(machine: Script) -> dict[str, Value]:
    """``requests`` and ``urllib.request``, as far as they give texts."""
    requests: dict[str, Value] = dict.fromkeys(("get", "request"), _answers(machine))
    names: dict[str, Value] = {
        "urlopen": _opens(machine),
        "urlretrieve": silent("urlretrieve"),
    }
    request = Namespace("urllib.request", names)
    return {
        "requests": Namespace("requests", requests),
        "urllib": Namespace("urllib", {"request": request}),
        "urllib.request": request,
    }


def _text(machine: Script, address: Value) -> Text:
    is_known = isinstance(address, str) and address.endswith(SHAKESPEARE)
    if not is_known:
        return Text(machine.place, None)
    return Text(machine.place, CHARACTERS, count=COUNT)


def _answers(machine: Script) -> Native:
    """``requests.get(address)``: an answer that is no error."""

    def get(*given: Value, url: Value = None, **_: Value) -> Answer:
        text, chunks = _text(machine, given[-1] if given else url), machine.unknown(CHUNKS)
        names: dict[str, Value] = {"text": text, "content": text, "headers": chunks}
        names |= {each: silent(each) for each in ("raise_for_status", "close")}
        names |= {each: silent(each, chunks) for each in ("json", "iter_content", "iter_lines")}
        return Answer({**names, "status_code": 200, "ok": True})

    return Native("get", get, plain=False)


def _opens(machine: Script) -> Native:
    """``urlopen(address)``."""

    def opened(address: Value = None, *_: Value, **__: Value) -> Answer:
        return Answer({"read": silent("read", _text(machine, address)), "close": silent("close")})

    return Native("urlopen", opened, plain=False)
