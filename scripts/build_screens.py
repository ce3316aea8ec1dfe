"""Writes the screens of the docs: what the installed command prints, as text and as pictures.

    python scripts/build_screens.py
    python scripts/build_screens.py --browser    # also what explain --html and --plot write
    python scripts/build_screens.py --nanogpt CHECKOUT    # also what it says of nanoGPT's configs

A block that begins with ``$ nanolint`` in one of the PAGES is run in FOLDER and written anew. The
pictures lie in docs/screens/, one for each of SCREENS.
"""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.terminal_theme import DIMMED_MONOKAI
from rich.text import Text

ROOT = Path(__file__).resolve().parent.parent
COMMAND = Path(sys.executable).with_name("nanolint")
PICTURES = ROOT / "docs" / "screens"
PAGES = (ROOT / "README.md",)
FOLDER = ROOT / "examples" / "backward_pass"
COLUMNS = 100
CARDS = ("rtx-3060-12gb", "rtx-4070", "t4", "8xa100-40gb")  # for nanoGPT's own configs

LINES = "nanolint explain --lines --gpu rtx-4070 config/train_gpt2.py"

# The picture's name, and what is typed in FOLDER. The config is found by its folder: a script that
# named it might be one that starts from it, and nanolint would say so.
CONFIG = next(FOLDER.glob("*.py")).name
SCREENS = {
    "check": f"nanolint --gpu rtx-3060-12gb {CONFIG}",
    "explain": f"nanolint explain --gpu rtx-3060-12gb {CONFIG}",
    "fit": f"nanolint fit {CONFIG}",
    "t4": f"nanolint --gpu t4 {CONFIG}",
}

_BLOCK = re.compile(r"(?<=^```console\n)\$ (nanolint [^\n]*)\n.*?(?=^```$)", re.M | re.S)
_WEB_FONT = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)


def typed(
    command: str, *, color: bool = False, folder: Path = FOLDER, columns: int = COLUMNS
) -> str:
    """What ``command`` prints in ``folder``; with ``color`` on a terminal of so many columns."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("NANOLINT_") and name not in ("NO_COLOR", "FORCE_COLOR")
    }
    environment |= {"COLUMNS": str(columns), "TERM": "xterm-256color"}
    ours, theirs = pty.openpty() if color else (None, subprocess.PIPE)
    process = subprocess.Popen(
        [COMMAND, *command.split()[1:]],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=subprocess.PIPE,
    )
    if ours is None:
        printed, said = process.communicate()
    else:
        os.close(theirs)
        printed, said = _received(ours), process.communicate()[1]
    if process.returncode not in (0, 1):
        raise SystemExit(f"{command}: {said.decode()}")
    return printed.decode().replace("\r\n", "\n")


def _received(terminal: int) -> bytes:
    """All that is written to the terminal until nobody has it open."""
    received = b""
    with os.fdopen(terminal, "rb", buffering=0) as stream, suppress(OSError):
        while part := stream.read(65536):
            received += part
    return received


def picture(name: str, command: str, *, folder: Path = FOLDER, columns: int = COLUMNS) -> str:
    """The screen as an SVG that asks for nothing from elsewhere."""
    printed = typed(command, color=True, folder=folder, columns=columns)
    text = Text.from_ansi(printed.rstrip("\n"))
    console = Console(record=True, width=columns, file=io.StringIO(), force_terminal=True)
    console.print(text, soft_wrap=False)
    drawn = console.export_svg(title=f"$ {command}", theme=DIMMED_MONOKAI, unique_id=name)
    return _WEB_FONT.sub("", drawn)


def page(text: str) -> str:
    """``text`` with its blocks as the command prints them now."""
    return _BLOCK.sub(lambda block: f"$ {block[1]}\n{typed(block[1])}", text)


def photograph() -> None:
    """Draw what differs by release of Chromium and matplotlib: explain's page and its plot."""
    typed(f"nanolint explain --gpu rtx-3060-12gb {CONFIG} --plot {ROOT / 'docs/backward_pass.png'}")
    with TemporaryDirectory() as folder:
        page = Path(folder, "page.html")
        typed(f"nanolint explain --gpu rtx-3060-12gb {CONFIG} --html {page}")
        subprocess.run(
            [
                *("chromium", "--headless", "--no-sandbox", "--disable-gpu"),
                *(f"--user-data-dir={folder}/home", "--window-size=1200,1400"),
                *(f"--screenshot={PICTURES / 'html.png'}", page.as_uri()),
            ],
            capture_output=True,
            check=True,
        )


def main() -> None:
    """Write all of them."""
    if "--browser" in sys.argv[1:]:
        photograph()
    PICTURES.mkdir(exist_ok=True)
    if "--nanogpt" in sys.argv[1:]:
        checkout = Path(sys.argv[sys.argv.index("--nanogpt") + 1])
        for card in CARDS:
            command, name = f"nanolint --gpu {card} config", f"nanogpt-{card}"
            drawn = picture(name, command, folder=checkout, columns=80)
            (PICTURES / f"{name}.svg").write_text(drawn, encoding="utf-8", newline="\n")
        drawn = picture("nanogpt-lines", LINES, folder=checkout, columns=80)
        (PICTURES / "nanogpt-lines.svg").write_text(drawn, encoding="utf-8", newline="\n")
    for name, command in SCREENS.items():
        drawn = picture(name, command)
        (PICTURES / f"{name}.svg").write_text(drawn, encoding="utf-8", newline="\n")
    for path in PAGES:
        path.write_text(page(path.read_text(encoding="utf-8")), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
