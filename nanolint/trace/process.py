"""Run a script in the user's interpreter, on the card that only counts."""

from __future__ import annotations

import base64
import json
import os
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from nanolint.frozen import dataclass
from nanolint.trace.build import build
from nanolint.trace.guarded import ANSWER, NO_ANSWER, CannotTrace, Guarded
from nanolint.trace.sandbox import MEMORY

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TypeAlias

    from nanolint.trace.build import Card

    Progress: TypeAlias = Callable[[str, int], None]

START = Path(__file__).parent / "child" / "start.py"
OF_THE_WORLD = "WORLD_SIZE", "LOCAL_WORLD_SIZE", "RANK", "LOCAL_RANK"


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
    steps: int | None = 3  # None: until two leave what is reserved alone, and what comes later
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
    return Tracer(request, cache, snapshot)(Asked(request.argv), progress)


class Tracer:
    """Runs the script as often as it is asked, each time in a process and a layer of its own."""

    def __init__(self, request: Request, cache: Path, snapshot: BinaryIO | None = None) -> None:
        self._request, self._snapshot = request, snapshot
        self._folders = _writable(request) if request.protected else None
        self._card = build(self._torch_folder(), cache)

    def __call__(self, asked: Asked, progress: Progress = lambda *_: None) -> dict[str, Any]:
        """One run of the script, as ``trace`` returns it. Raises CannotTrace."""
        request = self._request
        if asked.edits and self._folders is None:
            raise CannotTrace(
                "a constant is changed in a layer over the project, never in it: leave "
                "--unprotected out"
            )
        order = {
            "argv": list(asked.argv),
            "module": request.module,
            "before": str(request.before) if request.before else None,
            "steps": request.steps,
            "seconds": request.seconds,
            "folder": str(request.folder),
            "path": _python_path(request),
            "protected": request.protected,
            "snapshot": self._snapshot is not None,
        }
        found: dict[str, Any] | None = None
        with Guarded(self._folders) as guarded:
            environment = _environment(request, guarded.scratch, self._card)
            command = _command(request, guarded, order)
            for message in guarded.run(
                command, environment, asked.edits, request.seconds, request.host_bytes
            ):
                if "phase" in message:
                    progress(str(message["phase"]), message.get("step", 0))
                elif "failed" in message:
                    raise CannotTrace(str(message["failed"]))
                elif "snapshot" in message and self._snapshot is not None:
                    self._snapshot.write(base64.b64decode(str(message["snapshot"])))
                elif "traced" in message:
                    found = message["traced"]
            if found is None:
                raise CannotTrace(guarded.early())
            if not isinstance(found, dict):
                raise CannotTrace(NO_ANSWER)
            return {**found, "written": guarded.written, "printed": guarded.printed()}

    def _torch_folder(self) -> Path:
        """Where torch is installed for the interpreter, found without importing it."""
        request = self._request
        python = request.python
        with Guarded(self._folders) as guarded:
            order = {"find": True, "path": _python_path(request)}
            command = _command(request, guarded, order)
            messages = guarded.run(
                command, _environment(request, guarded.scratch), {}, 60, request.host_bytes
            )
            found = next((str(message.get("torch", "")) for message in messages), None)
            if found is None:
                why = guarded.printed().splitlines()[-1:] or [f"{python} does not start Python"]
                raise CannotTrace(why[0])
        if not found.endswith("__init__.py"):
            raise CannotTrace(
                f"{python} has no torch; name an interpreter with --python, such as "
                f".venv/bin/python"
            )
        return Path(found).parent


def _command(request: Request, guarded: Guarded, order: Mapping[str, Any]) -> list[str]:
    """The project's interpreter on nanolint's own program, and on nothing else."""
    message = json.dumps({**order, "answer": f"{guarded.scratch}/{ANSWER}"})
    return [str(Path(request.python).absolute()), "-I", "-B", "-u", str(START), message]


def _python_path(request: Request) -> list[str]:
    """The folders of PYTHONPATH, which the interpreter leaves out until the script begins."""
    variable = request.environment.get("PYTHONPATH", os.environ.get("PYTHONPATH", ""))
    return [str(request.folder / each) for each in variable.split(os.pathsep) if each]


def _environment(request: Request, scratch: str, card: Card | None = None) -> dict[str, str]:
    """The user's own, with the card before everything, and Inductor's cache away from theirs."""
    world = str(request.world_size)
    distributed = dict(zip(OF_THE_WORLD, (world, world, "0", "0"), strict=True))
    distributed |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500"}
    variables = {
        **{key: value for key, value in os.environ.items() if key not in distributed},
        "CUDA_MODULE_LOADING": "LAZY",
        "CUDA_VISIBLE_DEVICES": ",".join(map(str, range(request.card.count))),
        "TMPDIR": "/tmp",
        "TORCHINDUCTOR_CACHE_DIR": f"{scratch}/{MEMORY}/inductor",
        "TRITON_CACHE_DIR": f"{scratch}/{MEMORY}/triton",
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
        "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1",
        **request.card.environment,
        **(distributed if request.ranked or request.world_size > 1 else {}),
        **request.environment,
    }
    if card is not None:
        for name, first in (("LD_PRELOAD", card.library), ("LD_LIBRARY_PATH", card.folder)):
            variables[name] = os.pathsep.join(filter(None, [str(first), variables.get(name)]))
    return variables


def _writable(request: Request) -> list[str]:
    """The folders that a script writes to."""
    folder = request.folder.resolve()
    script = folder / request.argv[0]
    places = [folder, script.parent, Path.home(), Path("/tmp"), Path("/var/tmp")]
    return [str(place) for place in places if place.is_dir()]
