"""A property that is worked out once keeps nobody waiting who asks another object for it."""

from __future__ import annotations

from threading import Event, Thread

from nanolint.cached import cached_property


class Asked:
    """Works out its answer once it may."""

    def __init__(self) -> None:
        self.is_asked, self.may_answer, self.times = Event(), Event(), 0

    @cached_property
    def answer(self) -> int:
        """How often it was worked out."""
        self.is_asked.set()
        self.may_answer.wait()
        self.times += 1
        return self.times


def test_it_is_worked_out_once() -> None:
    asked = Asked()
    asked.may_answer.set()
    assert (asked.answer, asked.answer, asked.times) == (1, 1, 1)


def test_another_object_need_not_wait() -> None:
    slow, quick = Asked(), Asked()
    thread = Thread(target=lambda: slow.answer)
    thread.start()
    slow.is_asked.wait()
    quick.may_answer.set()
    assert quick.answer == 1
    slow.may_answer.set()
    thread.join()
    assert slow.answer == 1
