"""What was found in each file, as every format gets it: plain, picklable data.

Know a finding again after its file has changed around it.

Where a rule's page can be read on the web.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from nanolint.cached import cached_property
from nanolint.frozen import dataclass
from nanolint.linting import registry

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nanolint.diagnostics import Diagnostic, Safety, Severity
    from nanolint.linting.fixing import Dropped
    from nanolint.linting.judged import JudgedRun
    from nanolint.linting.setup import Skipped
    from nanolint.rule.api import Rule


@dataclass(frozen=True, slots=True)
class OtherFile:
    """Another file that fixes edit: a settings file, a module. Its text as it was and as it is."""

    name: str
    before: str
    text: str


@dataclass(frozen=True, slots=True)
class FileResult:
    """One file under the name that the user gave it.

    ``text`` is what the diagnostics point into: with fixes applied, the fixed text, and then
    ``before`` is the text as it was. ``error`` says why the file could not be judged or written,
    ``remarks`` are lines about it or its project that change nothing, ``cards`` such about the
    targets. ``runs`` are what it holds to be judged, one for each card; ``no_run`` says why a file
    that the user ``named``, or that ``trains`` something, holds none. ``project`` is the
    folder whose other files share its code.
    ``others`` are what the fixes edit beside it.
    ``launch`` is the place of the launch line that starts the runs, if a file has it.
    ``is_launch``: it is a text with launch lines, whose runs are those of the files that they name.
    """

    name: str
    text: str = ""
    diagnostics: tuple[Diagnostic, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    before: str | None = None
    applied: tuple[Diagnostic, ...] = ()
    ignored: tuple[Diagnostic, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    error: str | None = None
    remarks: tuple[str, ...] = ()
    cards: tuple[str, ...] = ()
    trace: str | None = None  # of an internal error
    runs: tuple[JudgedRun, ...] = ()
    no_run: str | None = None
    trains: bool = False
    named: bool = False
    project: str | None = None
    launch: str | None = None
    is_launch: bool = False
    others: tuple[OtherFile, ...] = ()

    @property
    def run_name(self) -> str:
        """The name of its run: ``train.py``, ``train.py (run.sh:3)``."""
        return f"{self.name} ({self.launch})" if self.launch else self.name


@dataclass(frozen=True)
class Results:
    """All files, in the order in which they were found."""

    files: Sequence[FileResult]
    unsafe_fixes: bool = False  # whether the user asked for unsafe fixes too
    verbose: bool = False  # whether the user asked for details
    known: int = 0  # findings left out because a baseline lists them
    told: bool = False  # whether the verdict on the only run has been written

    @cached_property
    def findings(self) -> list[Diagnostic]:
        """The findings that are left, of all files."""
        return [diagnostic for file in self.files for diagnostic in file.diagnostics]

    @cached_property
    def applied(self) -> list[Diagnostic]:
        """The findings that were fixed, of all files."""
        return [diagnostic for file in self.files for diagnostic in file.applied]

    @cached_property
    def severities(self) -> Counter[Severity]:
        """How many findings of each severity are left."""
        return Counter(diagnostic.severity for diagnostic in self.findings)

    @cached_property
    def unknown(self) -> list[FileResult]:
        """The files that train something of which no number is known."""
        return [
            file
            for file in self.files
            if file.no_run is not None or any(run.is_unknown for run in file.runs)
        ]

    def fixable(self, safety: Safety) -> int:
        """How many of the findings left have a fix of that safety."""
        return sum(d.fix is not None and d.fix.safety is safety for d in self.findings)


LENGTH = 32  # hexadecimal digits


def fingerprints(file: FileResult) -> Iterator[str]:
    """A fingerprint for each finding of ``file``, in their order.

    It is made of the rule, the card and the code that the finding points at, so that it survives
    lines added above, other white space and comments. Of several that would be the same, the
    later ones also count how many came before. The message plays no part: it holds numbers that
    the next release may know better.
    """
    seen: Counter[tuple[str, str, str]] = Counter()
    for diagnostic in file.diagnostics:
        span = diagnostic.span
        code = " ".join(file.text[span.start : span.end].split())
        key = diagnostic.code, diagnostic.gpu or "", code
        text = "\0".join((*key, str(seen[key])))
        seen[key] += 1
        yield hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:LENGTH]


SITE = "https://github.com/nanolint/nanolint/blob/main/rules"
BUILT_IN = "nanolint_rules."

_LINK_TO_PAGE = re.compile(r"(?<=\]\()[\w./]+\.md(?=[)#])")


def page_url(code: str) -> str | None:
    """The address of the rule's page; None for a rule of another package."""
    module = registry.load().find(code).module
    if not module.startswith(BUILT_IN):
        return None
    return f"{SITE}/{module.replace('.', '/')}.md"


def page_text(rule: Rule) -> str:
    """The rule's page with links that lead somewhere from wherever it is read."""
    url = page_url(rule.code)
    if url is None:
        return rule.explanation
    return _LINK_TO_PAGE.sub(lambda link: urljoin(url, link[0]), rule.explanation)
