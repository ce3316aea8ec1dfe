"""Downloads of a script: a text, whose characters are known if it is known which one it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.interpreter.values import Namespace, Native, silent
from nanolint.run.downloads import CHARACTERS, COUNT, SHAKESPEARE
from nanolint.script.corpora import Text

if TYPE_CHECKING:
    from nanolint.interpreter.values import Value
    from nanolint.script.machine import Script

CHUNKS = "a download"


class Answer(Namespace):
    """The answer to a request; it may stand in a ``with``."""

    def __init__(self, names: dict[str, Value]) -> None:
        super().__init__("answer", names)


def table(machine: Script) -> dict[str, Value]:
    """``requests`` and ``urllib.request``, as far as they give texts."""
    requests: dict[str, Value] = dict.fromkeys(("get", "request"), _answers(machine))
    names: dict[str, Value] = {
        "urlopen": _opens(machine),
        "urlretrieve": silent("urlretrieve"),
    }
    request = Namespace("urllib.request", names)
    return {
        "requests": Namespace("requests", requests),
        "urllib": Namespace("urllib", {"request": request}),
        "urllib.request": request,
    }


def _text(machine: Script, address: Value) -> Text:
    is_known = isinstance(address, str) and address.endswith(SHAKESPEARE)
    if not is_known:
        return Text(machine.place, None)
    return Text(machine.place, CHARACTERS, count=COUNT)


def _answers(machine: Script) -> Native:
    """``requests.get(address)``: an answer that is no error."""

    def get(*given: Value, url: Value = None, **_: Value) -> Answer:
        text, chunks = _text(machine, given[-1] if given else url), machine.unknown(CHUNKS)
        names: dict[str, Value] = {"text": text, "content": text, "headers": chunks}
        names |= {each: silent(each) for each in ("raise_for_status", "close")}
        names |= {each: silent(each, chunks) for each in ("json", "iter_content", "iter_lines")}
        return Answer({**names, "status_code": 200, "ok": True})

    return Native("get", get, plain=False)


def _opens(machine: Script) -> Native:
    """``urlopen(address)``."""

    def opened(address: Value = None, *_: Value, **__: Value) -> Answer:
        return Answer({"read": silent("read", _text(machine, address)), "close": silent("close")})

    return Native("urlopen", opened, plain=False)
