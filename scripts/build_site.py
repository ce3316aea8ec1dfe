"""Build the documentation as a site of static files, and the page to try nanolint in a browser.

    python scripts/build_site.py                  # into build/site
    python scripts/build_site.py --no-playground

The pages are those of the repository, where they stand; a link that leads to none of them is an
error, but one to a file or folder that the site does not have becomes plain text.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OWN = ROOT / "docs" / "site"
BUILD = ROOT / "build"
PAGES = BUILD / "site-pages"
SITE = BUILD / "site"
SHOWN = (
    *("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"),
    *("docs", "rules", "examples", "validation"),
)
SUFFIXES = (".md", ".png", ".svg")
LEFT_OUT = ("site", "playground")

_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)")

PLAYGROUND = """\
# Try it here

<iframe src="playground/index.html" title="nanolint in the browser"
width="100%" height="1500"></iframe>

[On a page of its own](playground/index.html)
"""


def collect() -> None:
    """Put the pages and their pictures where zensical reads them, in the repository's own order."""
    shutil.rmtree(PAGES, ignore_errors=True)
    for top in SHOWN:
        source = ROOT / top
        for path in [source] if source.is_file() else sorted(source.rglob("*")):
            inside = path.relative_to(ROOT)
            if path.suffix not in SUFFIXES or set(inside.parts) & set(LEFT_OUT):
                continue
            (PAGES / inside).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, PAGES / inside)
    for page in PAGES.rglob("*.md"):
        text = page.read_text(encoding="utf-8")
        page.write_text(_LINK.sub(partial(_kept, page), text), encoding="utf-8")
    shutil.copy(OWN / "rules.js", PAGES / "rules.js")
    (PAGES / "playground.md").write_text(PLAYGROUND, encoding="utf-8")
    (PAGES / "playground").mkdir()
    (PAGES / "playground" / "index.html").touch()  # the page itself is put there afterwards


def _kept(page: Path, link: re.Match[str]) -> str:
    """The link, or its words where it leads out of the site into the repository."""
    target = link[2].partition("#")[0]
    if not target or "://" in target or (page.parent / target).is_file():
        return link[0]
    place = ROOT / page.relative_to(PAGES).parent / target
    return link[1] if place.exists() else link[0]


def main() -> int:
    """Build all of it; returns zensical's exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--no-playground", action="store_true")
    options = parser.parse_args()
    collect()
    shutil.copy(OWN / "mkdocs.yml", BUILD / "mkdocs.yml")
    command = [sys.executable, "-m", "zensical", "build", "--strict", "-f", "mkdocs.yml"]
    built = subprocess.run(command, cwd=BUILD, check=False)
    if built.returncode == 0 and not options.no_playground:
        from build_playground import build

        build(SITE / "playground")
    return built.returncode


if __name__ == "__main__":
    sys.exit(main())
