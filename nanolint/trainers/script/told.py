"""What the reading of a whole script tells of its batches, where following its values does not.

Only where what is not known is how Python's own statements walk: how long a list gets, what a
generator gives. A value that only the run has (words, files, what ``exec`` runs) no reading tells.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.run.equation import NotKnown
from nanolint.run.program import BATCH, CONTEXT, PASSES
from nanolint.run.roles import Role
from nanolint.trainers.script.reading import TOO_LONG

if TYPE_CHECKING:
    from nanolint.run.described import Described
    from nanolint.run.terms import Term

ROLES = {Role.MICRO_BATCH: BATCH, Role.CONTEXT: CONTEXT, Role.ACCUMULATION: PASSES}
WALKS = frozenset(
    {
        "no call of a model was found before backward()",
        "the shape of what the model is given",
        "the dimensions of what the model is given",
        "the loop around backward() counts nothing",
        "the loop around backward() counts something else",
        *("a dimension of the batch", "a dimension of an array", "a dimension of a tensor"),
        *("a length", "how long a sequence is", "how long a list gets that a loop fills"),
        *("how many are in a sample", "how many samples are batched", "how much there is"),
        *("how many numbers a file has", "what is left of a tensor"),
        *("an item", "an item of a list"),
        *("one of the items of a list", "a list that a loop fills", "what a generator gives"),
        *("a list that is filled at run time", "a comprehension with a condition"),
        *("a comprehension over several lists", "changes with each turn of a loop"),
        *("a condition at run time", "what is iterated over", "what a DataLoader gives"),
        *("what a DataLoader collates", TOO_LONG),
    }
)
OF_TENSORS, OF_GENERATORS = " of a tensor at run time", "() yields"  # how others end


def can_tell(found: Described) -> bool:
    """Whether what is not known of the micro-batch and the passes is known once it is read."""
    terms = (found.roles.get(role) for role in (Role.MICRO_BATCH, Role.ACCUMULATION))
    return all(not isinstance(each, NotKnown) or _walks(each) for each in terms)


def told_of(found: Described) -> frozenset[str]:
    """The fields of the run that only its reading tells; the context wherever it is from."""
    return frozenset(
        key
        for role, key in ROLES.items()
        if isinstance(term := found.roles.get(role), NotKnown) and (_walks(term) or key == CONTEXT)
    )


def _walks(why: Term | NotKnown) -> bool:
    reason = why.reason if isinstance(why, NotKnown) else ""
    return reason in WALKS or reason.endswith((OF_TENSORS, OF_GENERATORS))
