"""The cards that a process puts tensors on, by their numbers. All of them are counted as one."""

from __future__ import annotations

from nanolint.interpreter.certain import certain


class Cards:
    """``count`` is how many the machine has, None if nobody says it."""

    def __init__(self, count: int | None) -> None:
        self.count = count
        self.last = self.current = 0  # named last, and by torch.cuda.set_device
        self._used: int | None = None
        self._is_doubted = False

    def use(self, number: int | None) -> str | None:
        """Put tensors on ``cuda:number``, or on ``cuda``; returns a doubt about a second one, once.

        Raises PyTorch's RuntimeError if the machine does not have it.
        """
        self.last = self.current if number is None else number
        self.check(self.last)
        if self._used is None:
            self._used = self.last
        if self.last != self._used and not self._is_doubted:
            self._is_doubted = True
            both = f"cuda:{self._used} and cuda:{self.last}"
            untold = "" if self.count else "; name both, such as --gpu 2xRTX-4090"
            return f"tensors on {both} are counted as one card's{untold}"
        return None

    def check(self, number: int) -> None:
        """Raises PyTorch's RuntimeError if the machine does not have the card."""
        if self.count is not None and number >= self.count:
            known = f"[0, {self.count})"
            raise certain(
                RuntimeError(f"Device index value {number} is out of index range {known}")
            )

    def choose(self, number: int) -> None:
        """``torch.cuda.set_device``."""
        self.check(number)
        self.current = number
