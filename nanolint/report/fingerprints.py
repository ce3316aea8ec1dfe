"""Know a finding again after its file has changed around it."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.report.results import FileResult

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
