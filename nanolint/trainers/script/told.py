"""What the reading of a whole script tells of its batches, where following its values does not.

Only where what is not known is how Python's own statements walk: how long a list gets, what a
generator gives. A value that only the run has (words, files, what ``exec`` runs) no reading tells.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.run.equation import NotKnown
from nanolint.run.program import BATCH, CONTEXT, PASSES
from nanolint.run.roles import Role
from nanolint.trainers.script import walks

if TYPE_CHECKING:
    from nanolint.run.described import Described
    from nanolint.run.terms import Term

ROLES = {Role.MICRO_BATCH: BATCH, Role.CONTEXT: CONTEXT, Role.ACCUMULATION: PASSES}


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
    return isinstance(why, NotKnown) and walks.is_walk(why.reason)
