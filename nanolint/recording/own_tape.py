"""The tape of nanoGPT's own texts in the words that people know: phases, parts, letters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.recording.letters import in_letters
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
