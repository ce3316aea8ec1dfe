"""Documents are judged beside what else the server does, so that nobody who types waits for it.

What a newer text takes the place of is given up before its next reading.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from nanolint.frames import in_one_piece
from nanolint.tape.reading_lock import GaveWay, giving_way

if TYPE_CHECKING:
    from collections.abc import Callable

    from nanolint.lsp.judging import Judged
    from nanolint.lsp.session import Document, Session


class Begun(NamedTuple):
    """A judgement that is being worked out, of a document in one state."""

    document: Document
    state: int
    task: asyncio.Future[None]


class Judgements:
    """Those of a session: one at a time for each document, each in a thread of its own."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._begun: dict[str, Begun] = {}

    async def settle(self, document: Document) -> None:
        """Return once a document is judged as it stands then, or is closed."""
        while not document.is_judged and self._session.document(document.uri) is document:
            # Who asked may turn away; others wait for it, too.
            await asyncio.shield(self._task(document))

    def _task(self, document: Document) -> asyncio.Future[None]:
        begun = self._begun_of(document, document.state)
        if begun is None:
            task = asyncio.ensure_future(self._judge(document, document.state))
            begun = self._begun[document.uri] = Begun(document, document.state, task)
        return begun.task

    def _begun_of(self, document: Document, state: int) -> Begun | None:
        begun = self._begun.get(document.uri)
        is_own = begun is not None and begun.document is document and begun.state == state
        return begun if is_own else None

    async def _judge(self, document: Document, state: int) -> None:
        is_left = False  # the server ends meanwhile
        found: Judged | None = None
        try:
            judge = self._session.judgement(document)
            found = await asyncio.to_thread(
                _unless, lambda: is_left or document.state != state, judge
            )
        except Exception as error:  # a bug must cost one outcome, never the session
            self._session.tell_bug(error)
        finally:
            is_left = True
            if self._begun_of(document, state) is not None:
                del self._begun[document.uri]  # which holds a document that is closed, too
        document.take(found, state)


@in_one_piece
def _unless(is_given_up: Callable[[], bool], judge: Callable[[], Judged | None]) -> Judged | None:
    with suppress(GaveWay), giving_way(is_given_up):
        return judge()
    return None
