"""The tape of nanoGPT's own texts in the words that people know: phases, parts, letters.

Letters stand for the numbers of a shape, "(B*T, V)", as in nanoGPT's code. Only for runs of
nanoGPT's own, whose sizes are known by their names: what is named so has these very sizes,
whichever letters of the same size were meant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.regex import lazily
from nanolint.tape.located import Located
from nanolint.tape.tape import Component, Phase
from nanolint.trainers.nanogpt.own import SCRIPT

if TYPE_CHECKING:
    from nanolint.run.run import Run
    from nanolint.tape.locating import Where
    from nanolint.tape.tape import Tape

BATCH = "batch (B, T) int64"


def as_nanogpt(tape: Tape, run: Run) -> None:
    """Call what is on ``tape`` as nanoGPT's files do."""
    names = in_letters(tape.names, run)
    # X or Y, as our text of train.py makes them; where T is 1 its letters might be others.
    made = f"tensor ({run.batch_size}, {run.block_size}) int64"
    for handle, name in enumerate(tape.names):
        if name == made:
            names[handle] = BATCH
            tape.components[handle] = Component.INPUTS
    if isinstance(tape, Located):  # of sizes that are told apart line by line
        tape.wheres = [each and _in_project(each) for each in tape.wheres]
    else:
        tape.names = names
    first = [phase for _, phase in tape.phases].index(Phase.EVAL)
    for event in tape.events[: tape.phases[first][0]]:
        if event >= 0 and tape.components[event] is Component.ACTIVATIONS:
            tape.components[event] = Component.PARAMETERS  # of the checkpoint that it resumes
    # The first estimate_loss follows as soon as all is on the card: one phase to its readers. What
    # comes behind the last step, or before a later estimate_loss, is no forward pass.
    last = max((at for at, phase in tape.phases if phase is Phase.BACKWARD), default=0)
    behind = [*(phase for _, phase in tape.phases[first + 2 :]), None]
    tape.phases = [
        (0, Phase.EVAL),
        *(
            (at, phase)
            for (at, phase), then in zip(tape.phases[first + 1 :], behind, strict=True)
            if phase is not Phase.FORWARD or (at < last and then is not Phase.EVAL_LATE)
        ),
    ]


def _in_project(where: Where) -> Where | None:
    """Without the lines of our text of train.py, which is not the project's."""
    stack = tuple([each for each in where.stack if each.path != SCRIPT])
    return where._replace(stack=stack) if stack else None


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
