"""What an editor has open, and what is known about it: no protocol, no client."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nanolint.errors import UserError
from nanolint.files import door, notes
from nanolint.linting.plan import make_plan
from nanolint.lsp.judging import Judged, judge_text
from nanolint.settings.schema import FILE_NAMES, Sourced, discover
from nanolint.settings.targets import VARIABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path
    from typing import Any

    from nanolint.linting.plan import Plan
    from nanolint.rule.context import Context

EDITOR = "the editor"  # where a setting of the client's came from


@dataclass
class Document:
    """A text that an editor has open. ``whole`` is the last outcome for a text that parsed.

    ``state`` grows with each new text, and whenever what it is judged by may be another thing.
    """

    uri: str
    path: Path | None
    text: str
    is_python: bool
    judge: Callable[[Document], Judged | None] = field(repr=False)
    current: Judged | None = None
    whole: Judged | None = None
    touched: int = 0  # grows with each opening and change of any document
    typed: int | None = None  # where the last change begins
    state: int = 0
    judged_in: int | None = None  # the state that ``current`` is of

    @property
    def is_judged(self) -> bool:
        """Whether nothing is to be worked out about the text as it stands."""
        return not self.is_python or self.judged_in == self.state

    @property
    def judged(self) -> Judged | None:
        """The outcome for the text as it stands, worked out at once where it is not known; None
        where it cannot be judged."""
        if not self.is_judged:
            self.take(self.judge(self), self.state)
        return self.current

    def take(self, judged: Judged | None, state: int) -> None:
        """Take the outcome that was worked out in a state, unless that is over."""
        if state != self.state:
            return
        self.current, self.judged_in = judged, state
        if judged is not None and judged.is_whole:
            self.whole = judged

    def look_again(self) -> None:
        """What was worked out is of what was there before."""
        self.current = None
        self.state += 1

    @property
    def context(self) -> Context | None:
        """What the text means, or meant when it last parsed; None for what is no config."""
        judged = self.judged
        if judged is not None and judged.context is None:
            return None
        return None if self.whole is None else self.whole.context

    @property
    def is_script(self) -> bool:
        """Whether it is Python that no train.py would read as a config."""
        return self.judged is None or self.judged.is_script


class Session:
    """The open documents, the client's settings, and the card that was picked for now.

    ``tell`` is called with a line for the user: a mistake in settings, or a bug of nanolint's.
    """

    def __init__(self, environment: Mapping[str, str], tell: Callable[[str], None]) -> None:
        self._environment = dict(environment)
        self._tell = tell
        self._told: set[str] = set()
        self._documents: dict[str, Document] = {}
        self._plans: dict[Path | None, Plan] = {}  # the last good one for each folder
        self._gpu: str | None = None
        self.shows_lines = True  # lenses and hovers in a model's text
        # The client's settings by the folder that they are for; None: for all others.
        self._tables: dict[Path | None, Mapping[str, Any]] = {}

    @property
    def documents(self) -> tuple[Document, ...]:
        """Everything that is open."""
        return tuple(self._documents.values())

    def document(self, uri: str) -> Document | None:
        """The document with this address; None for one that is not open."""
        return self._documents.get(uri)

    def open(self, uri: str, path: Path | None, text: str, *, is_python: bool) -> list[Document]:
        """Start on a document. Returns the other documents that its text matters to."""
        document = Document(uri, path, text, is_python, self._judge)
        self._touch(document)
        self._documents[uri] = document
        return self._shown(document, text)

    def change(self, uri: str, text: str) -> list[Document]:
        """Take the new text of a document. Returns the other documents that it matters to."""
        document = self._documents.get(uri)
        if document is None or document.text == text:
            return []
        document.typed = first_difference(document.text, text)
        document.text = text
        document.look_again()
        self._touch(document)
        return self._shown(document, text)

    def close(self, uri: str) -> list[Document]:
        """Forget a document. Returns the others to which it matters what is on the disk now."""
        document = self._documents.pop(uri, None)
        if document is None:
            return []
        document.look_again()
        return self._shown(document, None)

    def files_changed(self, paths: Iterable[Path]) -> list[Document]:
        """Look again at these files. Returns the documents that they matter to."""
        changed = list(paths)
        for path in changed:
            door.forget(path)
        return self._stale(
            document
            for document in self.documents
            if any(self._concerns(document, path) for path in changed)
        )

    def look_again(self) -> list[Document]:
        """Look again at everything that was read. Returns the documents to which it matters."""
        door.forget()
        for document in self.documents:
            if document.is_python:
                self.plan_for(document.path)  # tells what is wrong, now that it is saved
        return self._stale(
            document
            for document in self.documents
            if document.current is None or not notes.unchanged(document.current.reads)
        )

    def configure(self, tables: Mapping[Path | None, Mapping[str, Any]]) -> None:
        """Take the client's settings, by the folder that they are for; None: for all others."""
        self._tables = dict(tables)
        self._told.clear()
        self._stale(self.documents)

    def set_target(self, gpu: str | None) -> None:
        """Judge everything by this card until further notice; None: by what the settings say."""
        self._gpu = gpu
        self._stale(self.documents)

    def _touch(self, document: Document) -> None:
        document.touched = 1 + max((each.touched for each in self.documents), default=0)

    def plan_for(self, path: Path | None) -> Plan | None:
        """How the file is judged. Where settings make that impossible, that is told, and the plan
        is the last good one for the folder, or None."""
        folder = path.parent if path is not None else None
        try:
            found = Sourced() if folder is None else discover(folder)
            table = dict(self._table_for(path))
            if self._gpu is not None:
                table["gpu"] = self._gpu
            environment = self._environment
            if "gpu" in table:  # nearer to the user than a variable, or than tables of cards
                table.setdefault("target", [])
                environment = {**environment, VARIABLE: ""}
            if table:
                found = found.with_table(table, EDITOR)
            plan = self._plans[folder] = make_plan(found, environment)
        except UserError as error:
            if not self._typing_settings():
                self._tell_once(f"nanolint: {error}")
            return self._plans.get(folder)
        return plan

    def _typing_settings(self) -> bool:
        """Whether a settings file is open that is not saved yet, so that it may be half typed."""
        return any(
            document.path is not None
            and document.path.name in FILE_NAMES
            and not _is_saved(document.path, document.text)
            for document in self.documents
        )

    def _table_for(self, path: Path | None) -> Mapping[str, Any]:
        around = [] if path is None else list(path.parents)
        nearest = next((folder for folder in around if folder in self._tables), None)
        return self._tables.get(nearest, {})

    def judgement(self, document: Document) -> Callable[[], Judged | None]:
        """What judges a document as it stands, in whatever thread calls it; None of what cannot be
        judged, as is told here."""
        with notes.noting() as reads:
            plan = self.plan_for(document.path)
        text, path = document.text, document.path

        def judge() -> Judged | None:
            if plan is None:
                return None
            judged = judge_text(text, path, plan)
            judged.reads.update(reads)
            return judged

        return judge

    def tell_bug(self, error: Exception) -> None:
        """Tell of a bug of nanolint's."""
        self._tell_once(f"nanolint: internal error: {type(error).__name__}: {error}")

    def _judge(self, document: Document) -> Judged | None:
        try:
            return self.judgement(document)()
        except Exception as error:  # a bug must cost one outcome, never the session
            self.tell_bug(error)
            return None

    def _tell_once(self, line: str) -> None:
        if line not in self._told:
            self._told.add(line)
            self._tell(line)

    def _shown(self, document: Document, text: str | None) -> list[Document]:
        """Let ``text`` count for whoever reads the file; returns the documents that do."""
        if document.path is None:
            return []
        content = None if text is None else text.encode("utf-8", "surrogatepass")
        door.show(document.path, content)
        others = (each for each in self.documents if each is not document)
        return self._stale([each for each in others if self._concerns(each, document.path)])

    def _concerns(self, document: Document, path: Path) -> bool:
        """Whether what was found for ``document`` could change with the file at ``path``."""
        judged = document.current
        return judged is None or notes.concerns(judged.reads, str(path))

    def _stale(self, documents: Iterable[Document]) -> list[Document]:
        found = list(documents)
        for document in found:
            document.look_again()
        return found


def first_difference(one: str, other: str) -> int:
    """Where two texts begin to differ."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (own, its) in pairs if own != its), min(len(one), len(other)))


def _is_saved(path: Path, text: str) -> bool:
    try:
        return path.read_bytes().replace(b"\r\n", b"\n") == text.encode().replace(b"\r\n", b"\n")
    except (OSError, UnicodeEncodeError):
        return False
