"""NL004: memory cannot be judged, because only a run could tell a value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.rule import Context, Finding, Need, Severity, rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.run.config import Unresolved

# Known, but illegal: NL303 and NL314 report these, with the value that would work.
REPORTED_ELSEWHERE = ("n_head", "dtype", "init_from")

PARTNERS = {"vocab_size": "dataset"}


@rule("NL004", "unresolvable-value", Severity.INFO, needs=[Need.CONFIG])
def unresolvable_value(context: Context) -> Iterator[Finding]:
    """A value that decides memory is not known before the run, so memory is not judged."""
    for unresolved in context.settings.unresolved:
        if not _is_reported_elsewhere(context, unresolved):
            yield _finding(context, unresolved)


def _is_reported_elsewhere(context: Context, unresolved: Unresolved) -> bool:
    return unresolved.key in REPORTED_ELSEWHERE and context.value(unresolved.key) is not None


def _finding(context: Context, unresolved: Unresolved) -> Finding:
    key = unresolved.key
    return Finding(
        message=f"memory is not judged, because of {key}: {unresolved.reason}",
        span=context.span(key, PARTNERS.get(key, key)),
        notes=(f"give the value that it will have: --set {key}=VALUE",),
    )
