"""Where a rule's page can be read on the web."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from nanolint.linting import registry

if TYPE_CHECKING:
    from nanolint.rule.api import Rule

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
