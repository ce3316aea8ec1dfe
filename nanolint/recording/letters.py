"""Shapes in the letters of nanoGPT's code, "(B*T, V)", in place of numbers.

Only for runs of nanoGPT's own, whose sizes are known by their names: what is named so has these
very sizes, whichever letters of the same size were meant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.regex import lazily

if TYPE_CHECKING:
    from nanolint.run.run import Run

_PARAMETER = lazily(r"\.(weight|bias)\b")
_SHAPE = lazily(r"\((\d+(?:, \d+)*),?\)")


def in_letters(names: list[str], run: Run) -> list[str]:
    """The names of a tape, each shape in letters where it is one of those that nanoGPT has."""
    activations, weights = _activations(run), _weights(run)
    known: dict[str, str] = {}
    for name in dict.fromkeys(names):
        of_weight = _PARAMETER.search(name) is not None
        of = {**activations, **weights} if of_weight else {**weights, **activations}
        shape = _SHAPE.search(name)
        letters = of.get(shape[1]) if shape else None
        known[name] = name.replace(shape[0], letters) if shape and letters else name
    return [known[each] for each in names]


def _activations(run: Run) -> dict[str, str]:
    b, t, v, c, h = (
        run.batch_size,
        run.block_size,
        run.vocab_size,
        run.sizes.n_embd,
        run.sizes.n_head,
    )
    assert c is not None and h is not None  # of nanoGPT's own all are known
    found = {
        "T": (t,), "B*T": (b * t,), "B, T": (b, t), "T, C": (t, c),
        "B*T, C": (b * t, c), "B*T, 3C": (b * t, 3 * c), "B*T, 4C": (b * t, 4 * c),
        "B, H, T": (b, h, t), "B, H, T, T": (b, h, t, t), "B, H, T, D": (b, h, t, c // h),
        "B, H, D, T": (b, h, c // h, t), "B*H, T, T": (b * h, t, t),
        "B*H, T, D": (b * h, t, c // h),
        "B*H, D, T": (b * h, c // h, t), "1, 1, T, T": (1, 1, t, t), "B, T, H": (b, t, h),
        "B, T, H, D": (b, t, h, c // h), "B, T, 1": (b, t, 1), "B*T, 1": (b * t, 1),
        "B*T, V": (b * t, v),
        "B, T, C": (b, t, c), "B, T, 3C": (b, t, 3 * c), "B, T, 4C": (b, t, 4 * c),
    }  # fmt: skip
    # In three dimensions the logits are called as the loss has them.
    return {**_by_numbers(found), f"{b}, {t}, {v}": "(B*T, V)"}


def _weights(run: Run) -> dict[str, str]:
    c, v = run.sizes.n_embd, run.vocab_size
    assert c is not None
    found = {
        "3C": (3 * c,), "4C": (4 * c,), "C": (c,), "C, C": (c, c),
        "3C, C": (3 * c, c), "C, 3C": (c, 3 * c),
        "4C, C": (4 * c, c), "C, 4C": (c, 4 * c), "V, C": (v, c), "C, V": (c, v),
    }  # fmt: skip
    return _by_numbers(found)


def _by_numbers(forms: dict[str, tuple[int, ...]]) -> dict[str, str]:
    return {", ".join(map(str, shape)): f"({letters})" for letters, shape in forms.items()}
