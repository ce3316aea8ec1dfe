"""Start the user's interpreter on the card that only counts, watch over it, read what it tells."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import tempfile
import time
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from nanolint.errors import UserError
from nanolint.frozen import dataclass
from nanolint.trace.build import build

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import TypeAlias

    Progress: TypeAlias = Callable[[str, int], None]

START = Path(__file__).parent / "child" / "start.py"
POLL_SECONDS = 0.5
MOST_LINE_BYTES = 1 << 30
TAIL_BYTES = 4000  # of what the script printed, shown if it stops
REFUSED = (
    "this system does not let the script be kept from its files ({}): use a container or a copy of "
    "the project, and --unprotected"
)
PATH_PROGRAM = "import importlib.util as u; print(getattr(u.find_spec('torch'), 'origin', ''))"


class CannotTrace(UserError):
    """The script could not be traced; says what stopped it and what to do, in a line or a few."""


@dataclass(frozen=True, slots=True)
class PretendedCard:
    """What the library says of the card. ``total_bytes`` is said, any number is given out."""

    name: str = "NVIDIA A100-SXM4-80GB"
    total_bytes: int = 80 << 30
    compute_capability: tuple[int, int] = (8, 0)
    sm_count: int = 108
    count: int = 1

    @property
    def environment(self) -> dict[str, str]:
        """The variables that card.c reads."""
        major, minor = self.compute_capability
        values = {
            "BYTES": self.total_bytes, "MAJOR": major, "MINOR": minor,
            "SMS": self.sm_count, "COUNT": self.count, "NAME": self.name,
        }  # fmt: skip
        return {f"NANOLINT_CARD_{key}": str(value) for key, value in values.items()}


@dataclass(frozen=True, slots=True)
class Request:
    """What to run, and under which limits."""

    python: str
    argv: Sequence[str]  # the script or module and its arguments
    module: bool = False
    before: Path | None = None  # Python to run first
    card: PretendedCard = PretendedCard()
    world_size: int = 1
    steps: int = 3  # the optimizer's state is there from the second on; then reserved bytes settle
    seconds: float = 600
    host_bytes: int = 8 << 30
    ranked: bool = False  # RANK is set for a single process, too
    environment: Mapping[str, str] = field(default_factory=dict)
    protected: bool = True  # no network, and what is written is thrown away
    folder: Path = field(default_factory=Path.cwd)


class Asked(NamedTuple):
    """What may differ from run to run: the arguments, and texts that stand for files."""

    argv: Sequence[str]
    edits: Mapping[str, str] = {}


def trace(
    request: Request,
    cache: Path,
    progress: Progress = lambda *_: None,
    snapshot: BinaryIO | None = None,
) -> dict[str, Any]:
    """What the child told, as ``nanolint.trace.traced.read`` takes it. Raises CannotTrace.

    ``progress`` is called with each phase and optimizer step that begins. ``snapshot`` is a file
    that takes the allocator's history as torch.cuda.memory._dump_snapshot writes it.
    """
    with Tracer(request, cache, snapshot) as tracer:
        return tracer(Asked(request.argv), progress)


class Tracer:
    """The user's interpreter with torch imported, which runs the script as often as it is asked.

    To be entered. Each run is a process of its own, that nothing of the others is seen in.
    """

    def __init__(self, request: Request, cache: Path, snapshot: BinaryIO | None = None) -> None:
        self._request, self._snapshot = request, snapshot
        self._card = build(_torch_folder(request.python), cache)
        self._held = contextlib.ExitStack()

    def __enter__(self) -> Tracer:
        request, held, snapshot = self._request, self._held, self._snapshot
        with held:
            # Not inside a folder that is laid over, of which the child would see the layer.
            scratch = held.enter_context(tempfile.TemporaryDirectory(prefix="nanolint-"))
            self._said = held.enter_context(tempfile.TemporaryFile())
            reading, writing = os.pipe()
            self._pipe = held.enter_context(os.fdopen(reading, "rb", buffering=0))
            message = {
                "pipe": writing,
                "module": request.module,
                "before": str(request.before) if request.before else None,
                "steps": request.steps,
                "folders": _writable(request) if request.protected else None,
                "scratch": scratch,
                "snapshot": snapshot.fileno() if snapshot else None,
            }
            try:
                self._child = subprocess.Popen(
                    [request.python, str(START), json.dumps(message)],
                    cwd=request.folder,
                    env=_environment(request, self._card.library, self._card.folder, scratch),
                    pass_fds=[writing, *([snapshot.fileno()] if snapshot else [])],
                    stdin=subprocess.PIPE,
                    bufsize=0,
                    stdout=self._said,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            except OSError as error:
                raise CannotTrace(f"{request.python}: {error.strerror}") from error
            finally:
                os.close(writing)
            held.callback(_end, self._child)
            self._held = held.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    def __call__(self, asked: Asked, progress: Progress = lambda *_: None) -> dict[str, Any]:
        """One run of the script, as ``trace`` returns it. Raises CannotTrace."""
        if asked.edits and not self._request.protected:
            raise CannotTrace(
                "a constant is changed in a layer over the project, never in it: leave "
                "--unprotected out"
            )
        asking, running = self._child.stdin, self._child.pid
        found: dict[str, Any] | None = None
        wrong: CannotTrace | None = None
        assert asking is not None
        with contextlib.suppress(BrokenPipeError):  # what it told before it ended is read below
            asking.write(json.dumps(asked._asdict()).encode() + b"\n")
        status = None
        while status is None:
            try:
                for message in _messages(self._child, self._pipe, self._request):
                    if "phase" in message:
                        progress(message["phase"], message["step"])
                    elif "started" in message:
                        running = message["started"]
                    elif "refused" in message:
                        wrong = CannotTrace(REFUSED.format(message["refused"]))
                    elif "failed" in message:
                        wrong = CannotTrace(str(message["failed"]))
                    elif "traced" in message:
                        found = message["traced"]
                    elif "ended" in message:
                        status = os.waitstatus_to_exitcode(message["ended"])
                        break
                else:
                    status = self._child.wait()
            except CannotTrace as limit:
                wrong = limit
                with contextlib.suppress(ProcessLookupError):
                    os.kill(running, signal.SIGKILL)
        if wrong is not None:
            raise wrong
        if found is None:
            raise CannotTrace(self._early(status))
        found["printed"] = _tail(self._said)
        return found

    def _early(self, status: int) -> str:
        how = f"killed by signal {-status}" if status < 0 else f"exit status {status}"
        return f"the script's process ended early ({how})\n{_tail(self._said)}".rstrip()


def _messages(
    child: subprocess.Popen[bytes], pipe: Any, request: Request
) -> Iterator[dict[str, Any]]:
    """Lines of the pipe until its end, under the limits."""
    deadline, rest, runs = time.monotonic() + request.seconds, b"", child.pid
    while True:
        if time.monotonic() > deadline:
            raise CannotTrace(
                f"stopped after {request.seconds:.0f} s: give it longer with --timeout, or fewer "
                "micro-steps and evaluation batches by the script's own options"
            )
        if _resident_bytes(runs) > request.host_bytes:
            raise CannotTrace(
                f"stopped at {request.host_bytes >> 30} GiB of host memory: the script keeps data "
                "on the host; allow more with --host-memory"
            )
        if not select.select([pipe], [], [], POLL_SECONDS)[0]:
            continue
        data = pipe.read(1 << 20)
        if not data:
            return
        *lines, rest = (rest + data).split(b"\n")
        if len(rest) > MOST_LINE_BYTES:
            raise CannotTrace("the history is too long")
        for line in lines:
            message = json.loads(line)
            runs = message.get("started", runs)
            yield message


def _end(child: subprocess.Popen[bytes]) -> None:
    """The child and whatever it started, which share a session of their own."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    if child.stdin is not None:
        with contextlib.suppress(BrokenPipeError):
            child.stdin.close()
    child.wait()


def _resident_bytes(pid: int) -> int:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError, ValueError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def _tail(said: Any) -> str:
    said.seek(0, os.SEEK_END)
    said.seek(max(0, said.tell() - TAIL_BYTES))
    text: str = said.read().decode(errors="replace")
    return text.strip()


def _environment(request: Request, library: Path, folder: Path, scratch: str) -> dict[str, str]:
    """The user's own, with the card before everything, and Inductor's cache away from theirs."""
    search = os.pathsep.join(filter(None, [str(folder), os.environ.get("LD_LIBRARY_PATH")]))
    world = str(request.world_size)
    distributed = {"WORLD_SIZE": world, "LOCAL_WORLD_SIZE": world, "RANK": "0", "LOCAL_RANK": "0",
                   "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500"}  # fmt: skip
    return {
        **{key: value for key, value in os.environ.items() if key not in distributed},
        "LD_PRELOAD": str(library),
        "LD_LIBRARY_PATH": search,
        "CUDA_MODULE_LOADING": "LAZY",
        "CUDA_VISIBLE_DEVICES": ",".join(map(str, range(request.card.count))),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
        "TMPDIR": "/tmp",
        "TORCHINDUCTOR_CACHE_DIR": f"{scratch}/inductor",
        "TRITON_CACHE_DIR": f"{scratch}/triton",
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
        "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1",
        **request.card.environment,
        **(distributed if request.ranked or request.world_size > 1 else {}),
        **request.environment,
    }


def _writable(request: Request) -> list[str]:
    """The folders that a script writes to."""
    folder = request.folder.resolve()
    script = folder / request.argv[0]
    places = [folder, script.parent, Path.home(), Path("/tmp"), Path("/var/tmp")]
    return [str(place) for place in places if place.is_dir()]


def _torch_folder(python: str) -> Path:
    """Where torch is installed for that interpreter, found without importing it."""
    try:
        done = subprocess.run(
            [python, "-c", PATH_PROGRAM], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotTrace(f"{python}: {getattr(error, 'strerror', error)}") from error
    origin = done.stdout.strip()
    if done.returncode or not origin.endswith("__init__.py"):
        raise CannotTrace(f"{python} has no torch: say whose with --python, as in .venv/bin/python")
    return Path(origin).parent
