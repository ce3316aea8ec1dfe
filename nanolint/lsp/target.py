"""Which cards a document is judged on: a request of our own, for clients that show it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nanolint.settings.schema import DEFAULT

if TYPE_CHECKING:
    from nanolint.lsp.server import NanolintServer

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
