"""``explain --html``: one page that needs nothing else, in a real browser.

These take seconds each.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.stories.cli.test_html import MOUSE, page
from tests.support.browser import loaded

if TYPE_CHECKING:
    from pathlib import Path


def test_pointing_at_the_picture_tells_the_tensor(tmp_path: Path) -> None:
    changed = tmp_path / "page.html"
    html = page("a100-40gb").replace("</html>", MOUSE + "</html>")
    changed.write_text(html, encoding="utf-8")
    document = loaded(changed, tmp_path / "home")
    heard = re.search(r'data-heard="([^"]*)"', document)
    assert heard is not None, document[-2000:]
    first, step, peak = heard[1].split("|")
    assert re.match(r"event \d+ of \d+, backward: \d+\.\d\d GiB allocated, ", first)
    assert re.search(r"^.+: [\d.]+ [MG]iB, .+, lives from event \d+, .+, to ", step)
    assert "parameters" in peak or "Adam" in peak
    assert len({first, step, peak}) == 3
