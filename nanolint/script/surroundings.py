"""The surroundings of a script: its launch line, its environment, the card, other processes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.frozen import dataclass

if TYPE_CHECKING:
    from nanolint.run.program import DataFile, NotKnown
    from nanolint.run.saved import Loaded
    from nanolint.source.values import Plain
    from nanolint.tensors.device import Asked


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Plain data. ``words`` are the flags of the launch line in their order, ``assigned`` its words
    like ``train.rows=8``, ``put`` the attributes that ``--set`` gives what a parser returns.

    ``vocabulary`` stands for the size of a tokenizer that only a run reads. ``shape`` is that of a
    batch, (B, T), if the code that loads it cannot be read. ``files`` are those of which it is
    known whether they are there; ``fresh``: no checkpoint is. ``compiles``: the run is taken for
    one that is compiled. ``last_step`` is the number of the last step, if that is known.
    ``refuses_float8`` is why the card has no products of 8-bit numbers. ``loaded`` is what is read
    of a checkpoint. ``cards`` is how many the machine has, None if nobody says it. ``is_module``:
    ``python -m`` starts the script.
    """

    words: tuple[tuple[str, Plain | NotKnown], ...]
    assigned: tuple[tuple[str, Plain | NotKnown], ...]
    variables: tuple[tuple[str, Plain | NotKnown], ...]
    put: tuple[tuple[str, Plain | NotKnown], ...]
    world_size: int
    capability: tuple[int, int]
    asked: Asked
    has_bfloat16: bool
    shape: tuple[int, int]
    vocabulary: int | None = None
    files: tuple[DataFile, ...] = ()
    fresh: bool = False
    compiles: bool = True
    last_step: int = 1 << 62
    refuses_float8: str | None = None
    loaded: tuple[Loaded, ...] = ()
    saved: tuple[tuple[str, Plain], ...] = ()
    cards: int | None = None
    is_module: bool = False
