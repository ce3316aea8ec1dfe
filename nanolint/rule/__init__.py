"""What a rule author needs, and nothing else of nanolint's insides.

A rule is a function from a Context to findings, with its metadata above it::

    @rule("NL303", "indivisible-heads", Severity.ERROR, needs=[Need.SETTINGS])
    def indivisible_heads(context: Context) -> Iterator[Finding]:
        ...
"""

from nanolint.rule.api import (
    NO_TARGET,
    Assignment,
    Case,
    Comment,
    Context,
    Edit,
    Finding,
    Fix,
    FixAvailability,
    Gpu,
    Known,
    Machine,
    Need,
    Related,
    Rule,
    Safety,
    Severity,
    Span,
    Suppression,
    abilities,
    format_bytes,
    rule,
)

__all__ = [
    "NO_TARGET",
    "Assignment",
    "Case",
    "Comment",
    "Context",
    "Edit",
    "Finding",
    "Fix",
    "FixAvailability",
    "Gpu",
    "Known",
    "Machine",
    "Need",
    "Related",
    "Rule",
    "Safety",
    "Severity",
    "Span",
    "Suppression",
    "abilities",
    "format_bytes",
    "rule",
]
