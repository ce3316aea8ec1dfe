"""Captures a session in Neovim for docs/editors.md: the real program in a terminal of tmux.

    python scripts/capture_neovim.py            # print the screens
    python scripts/capture_neovim.py --write    # and put them into the page

Needs tmux and Neovim, and nanolint[server] in this Python. What is typed is below.
"""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

Scenes: TypeAlias = tuple[tuple[str, tuple[list[str], str], tuple[list[str], str]], ...]

sys.path[:0] = [str(Path(__file__).resolve().parent.parent)]

from tests.editors.neovim import Neovim, find_neovim  # noqa: E402
from tests.support.sitting import (  # noqa: E402
    EDITORS_PAGE,
    environment,
    model_project,
    project,
)

START, END = "<!-- capture: start -->", "<!-- capture: end -->"
WIDTH, HEIGHT = 100, 19
PATIENCE_S, POLL_S = 60.0, 0.2

# What is said about a screen; then what is typed and what the screen must show after it, twice.
SCENES = (
    (
        "A batch that is too large is typed, and `:lua vim.diagnostic.open_float()`:",
        (["/batch_size =", "Enter", "wwciw16", "Escape"], "E batch_size = 16"),
        ([":lua vim.diagnostic.open_float()", "Enter"], "estimate_loss averages"),
    ),
    (
        "`:lua vim.lsp.buf.hover()` on the key:",
        (["0"], "E batch_size = 16"),
        ([":lua vim.lsp.buf.hover()", "Enter"], "micro-batch: sequences"),
    ),
    (
        "`:lua vim.lsp.buf.code_action()`:",
        (["w"], "E batch_size = 16"),
        ([":lua vim.lsp.buf.code_action()", "Enter"], "Code actions"),
    ),
    (
        "`1`, and `:write`:",
        (["1", "Enter"], "forward pass gradient_accumulation_steps = 128"),
        ([":write", "Enter"], "written"),
    ),
    (
        "Undone, and `:NanolintGpu a100-40gb`, where the larger batch fits:",
        (["u"], "E batch_size = 16"),
        ([":NanolintGpu a100-40gb", "Enter"], "accumulation batch_size = 16"),
    ),
)

# Nothing is shown of a model until it is asked for: so wait until the server can be asked.
READY = (
    ":lua vim.wait(60000, function() for _, each in pairs(vim.lsp.buf_get_clients()) do "
    "if each.initialized then return true end end end)"
)

# The same in the project's model.py.
MODEL_SCENES = (
    (
        "`:lua vim.lsp.buf.hover()` in model.py, on what the MLP keeps:",
        ([READY, "Enter", "/gelu(x)", "Enter", "zt"], "class Block"),
        ([":lua vim.lsp.buf.hover()", "Enter"], "for the backward pass"),
    ),
    (
        "The lenses there, after `:lua vim.lsp.codelens.refresh()`:",
        (["gg", "/class MLP", "Enter", "zt"], "class MLP"),
        ([":lua vim.lsp.codelens.refresh()", "Enter"], "% of the peak"),
    ),
)


class Terminal:
    """A terminal that no window shows, on a tmux server of its own."""

    def __init__(self, home: Path) -> None:
        self._tmux = ["tmux", "-f", "/dev/null", "-S", str(home / "tmux")]

    def start(self, command: list[str], cwd: Path, env: dict[str, str]) -> None:
        size = ["-x", str(WIDTH), "-y", str(HEIGHT)]
        line = shlex.join(["env", *(f"{key}={value}" for key, value in env.items()), *command])
        self._call("new-session", "-d", *size, "-c", str(cwd), line)

    def type(self, keys: list[str]) -> None:
        for key in keys:
            self._call("send-keys", key)

    def screen(self) -> str:
        return self._call("capture-pane", "-p")

    def wait_for(self, text: str) -> str:
        """The screen as soon as it shows ``text``; SystemExit where it never does."""
        for _ in range(int(PATIENCE_S / POLL_S)):
            screen = self.screen()
            if text in " ".join(screen.split()):
                return screen
            time.sleep(POLL_S)
        raise SystemExit(f"the screen never shows {text!r}:\n{self.screen()}")

    def stop(self) -> None:
        subprocess.run([*self._tmux, "kill-server"], check=False)

    def _call(self, *arguments: str) -> str:
        command = [*self._tmux, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def capture() -> str:
    """The scenes as Markdown."""
    neovim = find_neovim()
    if neovim is None:
        raise SystemExit("Neovim is not installed")
    sessions = (
        (project, "config.py", "block_size = 1024", SCENES),
        (model_project, "model.py", "import", MODEL_SCENES),
    )
    return "\n".join(
        f"{title}\n\n```text\n{screen}\n```\n"
        for make, name, shown, scenes in sessions
        for title, screen in session(neovim, make, name, shown, scenes)
    )


def session(
    neovim: Neovim, make: Callable[[Path], Path], name: str, shown: str, scenes: Scenes
) -> list[tuple[str, str]]:
    """What is seen in a Neovim of its own, that has opened a file which shows some text."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        neovim.configure(home)
        (home / "project").mkdir()
        terminal = Terminal(home)
        command = [neovim.program, "-i", "NONE", "-n", name]
        terminal.start(command, make(home / "project"), environment(home))
        try:
            terminal.wait_for(shown)
            return play(terminal, scenes)
        finally:
            terminal.stop()


def play(terminal: Terminal, scenes: Scenes) -> list[tuple[str, str]]:
    screens = []
    for title, *acts in scenes:
        screen = ""
        for keys, shown in acts:
            terminal.type(keys)
            screen = terminal.wait_for(shown)
        screens.append((title, screen.rstrip()))
    return screens


def page_with(page: str, scenes: str) -> str:
    """The page with other scenes between its marks."""
    return re.sub(
        f"{START}.*{END}", lambda _: f"{START}\n{scenes}{END}", page, count=1, flags=re.DOTALL
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    scenes = capture()
    print(scenes)
    if options.write:
        page = EDITORS_PAGE.read_text(encoding="utf-8")
        EDITORS_PAGE.write_text(page_with(page, scenes), encoding="utf-8")


if __name__ == "__main__":
    main()
