"""Where a rule's page can be read on the web."""

from __future__ import annotations

from nanolint import registry

SITE = "https://github.com/nanolint/nanolint/blob/main/rules"
BUILT_IN = "nanolint_rules."


def page_url(code: str) -> str | None:
    """The address of the rule's page; None for a rule of another package."""
    module = registry.load().find(code).module
    if not module.startswith(BUILT_IN):
        return None
    return f"{SITE}/{module.replace('.', '/')}.md"
