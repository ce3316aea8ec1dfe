"""A server with all its features, and one client served by it."""

from __future__ import annotations

import gc
import logging
import sys
from typing import TYPE_CHECKING, Any

from nanolint.lsp import code_actions, commands, documents, features, lifecycle
from nanolint.lsp.server import NanolintServer, StrictProtocol
from nanolint.settings.schema import DEFAULT

if TYPE_CHECKING:
    from typing import BinaryIO


# While Python looks for garbage nobody is answered: ``prefetch.py`` has it do so in a pause.
# On its own it does so after 25 readings (70 MB), and in all that lives hardly ever.
YOUNG, MIDDLE, OLD = 300_000, 10, 1_000

# How long one thread computes while others wait, in seconds. An answer passes through four threads
# or so, each of which waits that long beside a reading that nobody waits for any more.
SWITCH_S = 0.0005


def make_server() -> NanolintServer:
    """A server with all its features."""
    server = NanolintServer()
    lifecycle.register(server)
    documents.register(server)
    code_actions.register(server)
    features.register(server)
    commands.register(server)
    register(server)
    return server


def serve(requests: BinaryIO, answers: BinaryIO) -> bool:
    """Serve one client until it leaves; returns whether it did so as the protocol wants it."""
    # What goes wrong is told to the client; pygls would print its traceback as well.
    logging.getLogger("pygls").setLevel(logging.CRITICAL)
    gc.set_threshold(YOUNG, MIDDLE, OLD)
    sys.setswitchinterval(SWITCH_S)
    server = make_server()
    server.start_io(requests, answers)
    assert isinstance(server.protocol, StrictProtocol)
    return not server.protocol.left_early


TARGET = "nanolint/target"


def register(server: NanolintServer) -> None:
    """Answer the request, whose parameters are those of a text document: ``{"uri": ...}``."""

    @server.feature(TARGET)
    def _target(params: Any) -> dict[str, Any] | None:
        document = server.session.document(getattr(params, "uri", ""))
        plan = None if document is None else server.session.plan_for(document.path)
        if document is None or plan is None:
            return None
        origin = plan.chosen.origin
        return {
            "gpus": [target.label for target in plan.setup(document.path).targets],
            "origin": None if origin == DEFAULT else origin,
        }
