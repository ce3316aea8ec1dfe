"""From a keystroke to the findings for it: nanolint's language server beside ruff's.

    python benchmarks/lsp.py

Both servers run at once, as processes of their own, and are typed into in turns, so that a busy
machine slows both. What is measured is the time from sending the changed text of a file to the
arrival of the findings for that version. The client is a few lines of JSON, so that it costs
little itself. A micro-batch is typed twice, and a context: at once, and where the server was left
alone until it had read ahead what is likely to be typed; and at once again in a server that is
started behind that one, which finds what was kept. For that nanolint is installed from a wheel, as
a checkout keeps nothing. With a model.py of the project's own, that is read again for each new text
of it, which configs beside it wait for.
"""

from __future__ import annotations

import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.read_model import FILES, MODEL  # noqa: E402
from benchmarks.run import environment, install, write_table  # noqa: E402
from tests.support.project_tree import write_project  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

KEYSTROKES, WARM_UP = 100, 20
REST = 3  # seconds in which a server does nothing once it has read ahead
TARGETS = {"a.py": 50, "model.py": 150}  # milliseconds at the 95th percentile
NANOLINT = sys.executable, "-m", "nanolint", "server"
CARDS = ("rtx-4090", "rtx-4070")  # one on which nanoGPT's default fits, and one on which not
CONFIG = """\
# these make the total batch size be ~0.5M
# 12 batch size * 1024 block size * 5 gradaccum * 8 GPUs = 491,520
batch_size = 12
block_size = 1024
gradient_accumulation_steps = 5 * 8

max_iters = 600000
lr_decay_iters = 600000

eval_interval = 1000
eval_iters = 200
log_interval = 10

weight_decay = 1e-1
"""


class Client:
    """One server process, with the document that is typed in and others beside it."""

    def __init__(
        self,
        command: tuple[str, ...],
        path: Path,
        options: dict[str, Any],
        *beside: Path,
        around: dict[str, str] | None = None,
    ) -> None:
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=ROOT,
            env=around or _environment(),
        )
        self._uri = path.as_uri()
        self._version = 1
        root = (path.parent if path.name == "model.py" else path.parent.parent).as_uri()
        self._send(
            "initialize",
            {
                "processId": None,
                "rootUri": root,
                "workspaceFolders": [{"uri": root, "name": "benchmark"}],
                "initializationOptions": options,
                "capabilities": {"textDocument": {"publishDiagnostics": {"versionSupport": True}}},
            },
            number=1,
        )
        self._wait(lambda message: message.get("id") == 1)
        self._send("initialized", {})
        for each in (*beside, path):
            document = {"uri": each.as_uri(), "languageId": "python", "version": 1}
            self._send(
                "textDocument/didOpen", {"textDocument": {**document, "text": each.read_text()}}
            )
        self._wait(self._is_for_this_version)

    def type(self, text: str) -> float:
        """Change the text; returns the milliseconds until its findings came."""
        self._version += 1
        change = {
            "textDocument": {"uri": self._uri, "version": self._version},
            "contentChanges": [{"text": text}],
        }
        start = time.perf_counter()
        self._send("textDocument/didChange", change)
        self._wait(self._is_for_this_version)
        return (time.perf_counter() - start) * 1000

    def rest(self) -> None:
        """Wait until the server has read ahead and does nothing more; print what that took."""
        start, seconds = self._seconds(), -1.0
        while (now := self._seconds()) != seconds:
            seconds = now
            time.sleep(REST)
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        held = status.partition("VmRSS:")[2].split()[0]
        print(f"read ahead in {now - start:.0f} s of the processor; it holds {held} kB then")

    def _seconds(self) -> float:
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()

    def _is_for_this_version(self, message: dict[str, Any]) -> bool:
        told = message.get("params") or {}
        return (
            message.get("method") == "textDocument/publishDiagnostics"
            and told.get("uri") == self._uri
            and told.get("version") == self._version
        )

    def _send(self, method: str, params: dict[str, Any], number: int | None = None) -> None:
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
        if number is not None:
            message["id"] = number
        body = json.dumps(message).encode()
        assert self._process.stdin is not None
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self._process.stdin.flush()

    def _wait(self, awaited: Callable[[dict[str, Any]], bool]) -> None:
        """Read messages until the awaited one; nothing that a server asks is answered."""
        assert self._process.stdout is not None
        while True:
            length = 0
            for line in iter(self._process.stdout.readline, b"\r\n"):
                if not line:
                    raise SystemExit("a server ended")
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            if awaited(json.loads(self._process.stdout.read(length))):
                return


def _environment() -> dict[str, str]:
    path = os.pathsep.join((str(ROOT), str(ROOT / "rules")))
    return {**environment(), "PYTHONPATH": path}


def other_key() -> Iterator[str]:
    """Texts in which a value grows that memory does not depend on."""
    for number in itertools.count(1):
        yield CONFIG.replace("weight_decay = 1e-1", f"weight_decay = {number}e-5")


def whole_number() -> Iterator[str]:
    """Texts with another number of iterations each."""
    for number in itertools.count(5000, 1000):
        yield CONFIG.replace("\nmax_iters = 600000", f"\nmax_iters = {number}")


def batch_size() -> Iterator[str]:
    """Texts with another micro-batch each, so that each is another run to replay."""
    for number in itertools.cycle(range(2, 200)):
        yield CONFIG.replace("batch_size = 12", f"batch_size = {number}")


def block_size() -> Iterator[str]:
    """Texts with another context each, which is another reading."""
    for number in itertools.cycle(range(64, 200 * 64, 64)):
        yield CONFIG.replace("block_size = 1024", f"block_size = {number}")


def doubled() -> Iterator[str]:
    """Texts in which the context is taken away and another one typed, digit by digit: twice as
    long, half as long, and what it was."""
    typed = (1024, 102, 10, 1, 2, 20, 204, 2048, 204, 20, 2, 5, 51, 512, 51, 5, 1, 10, 102)
    for number in itertools.cycle(typed):
        yield CONFIG.replace("block_size = 1024", f"block_size = {number}")


def not_compiled() -> Iterator[str]:
    """The same of a run that is not compiled."""
    for text in batch_size():
        yield text + "compile = False\n"


def model() -> Iterator[str]:
    """Texts of model.py in which a number grows that no size depends on."""
    for number in itertools.count(1):
        yield MODEL.replace("1e-5", f"{number}e-5")


def main() -> None:
    """Measure, and write a table."""
    rows = [
        "| model | typed | target GPU | nanolint, median | 95th percentile | target "
        "| ruff server | ratio |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for what, files in (("nanoGPT's", {}), ("its own", FILES)):
        with tempfile.TemporaryDirectory() as name:
            project = write_project(Path(name).resolve(), {"config/a.py": CONFIG, **files})
            config = project / "config" / "a.py"
            kinds = [
                ("another key", config, other_key),
                ("`max_iters`", config, whole_number),
                ("`block_size`, at once", config, block_size),
                ("`block_size`, read ahead", config, doubled),
                ("`batch_size`, at once", config, batch_size),
                ("`batch_size`, read ahead", config, batch_size),
                ("at once, not compiled", config, not_compiled),
                ("read ahead, not compiled", config, not_compiled),
            ]
            if files:
                kinds.append(("in model.py", project / "model.py", model))
            for (typed, path, texts), card in itertools.product(kinds, CARDS):
                beside = [] if path is config else [config]
                figures = measured(path, beside, card, texts, rests="read ahead" in typed)
                rows.append(f"| {what} | {typed} | {card} | {figures} |")
            if not files:
                rows += in_another_session(config, Path(name))
    write_table("in the editor", rows)


def in_another_session(config: Path, folder: Path) -> Iterator[str]:
    """The rows of a server that is started after one that had read ahead."""
    installed = str(install(folder / "own", f"{ROOT}[server]") / "nanolint"), "server"
    for card in CARDS:
        around = environment(folder / card)
        first = Client(installed, config, {"gpu": card}, around=around)
        first.type(next(doubled()))
        first.rest()
        first.close()
        for typed, texts in (("`block_size`", doubled), ("`batch_size`", batch_size)):
            figures = measured(config, [], card, texts, started=(installed, around))
            yield f"| nanoGPT's | {typed}, read ahead by an earlier server | {card} | {figures} |"


def measured(
    path: Path,
    beside: list[Path],
    card: str,
    texts: Callable[[], Iterator[str]],
    *,
    rests: bool = False,
    started: tuple[tuple[str, ...], dict[str, str] | None] = (NANOLINT, None),
) -> str:
    """The figures of one row: both servers are typed into in turns, once ours ``rests``."""
    ruff = (str(Path(sys.executable).with_name("ruff")), "server")
    nanolint, around = started
    ours = Client(nanolint, path, {"gpu": card}, *beside, around=around)
    theirs = Client(ruff, path, {}, *beside)
    if rests:
        ours.type(next(texts()))
        ours.rest()
    pairs = [
        (ours.type(text), theirs.type(text))
        for text in itertools.islice(texts(), WARM_UP + KEYSTROKES)
    ][WARM_UP:]
    ours.close()
    theirs.close()
    mine, other = zip(*pairs, strict=True)
    high, target = statistics.quantiles(mine, n=20)[-1], TARGETS[path.name]
    return (
        f"{statistics.median(mine):.0f} ms | {high:.0f} ms "
        f"| {target} ms, {'met' if high <= target else 'missed'} "
        f"| {statistics.median(other):.1f} ms "
        f"| {statistics.median(one / two for one, two in pairs):.0f}"
    )


if __name__ == "__main__":
    main()
