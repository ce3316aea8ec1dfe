"""The questions that turns of a loop asked, by the state in which they began: see ``course.py``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nanolint.interpreter.counted import Noted, Question

Asked: TypeAlias = "list[tuple[Question, Any]]"


class Kinds:
    """The questions that turns asked which began in one state."""

    def __init__(self) -> None:
        self.paths: list[list[Noted]] = []
        self._seen: set[tuple[Any, bool]] = set()
        self._sizes: dict[Any, list[Question]] = {}

    def add(self, path: list[Noted]) -> None:
        """A turn was read."""
        for each in path:
            self.see(each, answer=each.answer)
            questions = self._sizes.setdefault(each.key, [])
            if each.is_size and each.question not in questions:
                questions.append(each.question)
        if not any(is_same(path, other) for other in self.paths):
            self.paths.append(path)

    def see(self, asked: Noted, *, answer: Any) -> None:
        """Notes that the branch of an answer was read."""
        if not asked.is_size:
            self._seen.add((asked.key, bool(answer)))

    def join(self, other: Kinds) -> None:
        """Take what was asked in another state, too."""
        for path in other.paths:
            self.add(path)
        self._seen |= other._seen

    def has_seen(self, key: Any, *, answer: bool) -> bool:
        """Whether the branch of an answer was read."""
        return (key, answer) in self._seen

    def sizes(self, key: Any) -> list[Question]:
        """The questions for each size that was asked for."""
        return self._sizes[key]

    def open(self, decides: Callable[[Noted], bool]) -> Iterator[tuple[Noted, Asked]]:
        """Questions that have had one answer alone, and what leads to the other one; of those that
        decide anything."""
        for path in self.paths:
            before: Asked = []
            for each in filter(decides, path):
                if each.is_size:  # of these each turn asks one alone
                    yield each, [*before, *((one, False) for one in self._sizes[each.key])]
                elif (each.key, not each.answer) not in self._seen:
                    yield each, [*before, (each.question, not each.answer)]
                before.append((each.question, each.answer))


class Left:
    """A turn that left the state that it began in: what it asked, and after how many turns the
    state was there again; 0: it stays another one."""

    def __init__(self, path: list[Noted]) -> None:
        self.path = path
        self.absence = 0


def is_same(one: list[Noted], other: list[Noted]) -> bool:
    return [(each.question, each.answer) for each in one] == [
        (each.question, each.answer) for each in other
    ]
