"""nanolint beside bare Python and public peers: ratios, measured side by side in one run.

    python benchmarks/run.py

The peers are installed from PyPI into an environment of their own, and so is nanolint, from a wheel
of this checkout: what is measured is the script that users start. The commands take turns, round
by round; a ratio is the median over the rounds of one command's time by the other's in the same
round, so that a busy machine slows both. The throughput is that of 1,000 distinct configs.
Two tables in docs/performance.md are written anew, with the load that the machine was under.
"""

from __future__ import annotations

import itertools
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.read_model import FILES  # noqa: E402
from tests.support.project_tree import write_project  # noqa: E402

PEERS = ("torch-preflight", "torchfix", "fixit")
ROUNDS = 15
PAGE = ROOT / "docs" / "performance.md"
CONFIG = next((ROOT / "examples" / "backward_pass").glob("*.py"))
SMALL_CARD, LARGE_CARD = "--gpu=rtx-4070", "--gpu=rtx-4090"
BARE = "python -c pass"
AGAIN = ", read before"  # how the name of a command ends whose readings are kept

# Command, what it is compared with, and the most that it may take of it.
TARGETS = (
    ("nanolint --version", BARE, 2.0),
    ("nanolint --help", BARE, 2.0),
    ("nanolint", "torch-preflight check", 0.65),
    ("nanolint", "torchfix", 0.4),
    ("nanolint", "fixit lint", 0.25),
    ("nanolint, its own model fits", "fixit lint", 1.0),
    ("nanolint, its own model does not fit", "fixit lint", 1.0),
    ("nanolint fit, its own model", "fixit lint", 1.0),
    (f"nanolint{AGAIN}", "torch-preflight check", 0.65),
    (f"nanolint{AGAIN}", "torchfix", 0.4),
    (f"nanolint{AGAIN}", "fixit lint", 0.25),
    (f"nanolint, its own model does not fit{AGAIN}", "fixit lint", 1.0),
)
UNWANTED = ("PYTHONDONTWRITEBYTECODE", "PYTHONPATH")
MANY = 1000  # configs
LEAST_PER_SECOND, MOST_BYTES = 150, 300 * 10**6


def main() -> None:
    """Measure, and write two tables."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        programs = install(folder / "peers", *PEERS)
        own = install(folder / "own", str(ROOT))
        project = write_project(folder / "project", {"config/a.py": CONFIG.read_text("utf-8")})
        files = {"config/a.py": CONFIG.read_text("utf-8"), **FILES}
        own_model = str(write_project(folder / "own_model", files) / "config" / "a.py")
        commands = {
            BARE: (str(own / "python"), "-c", "pass"),
            "nanolint --version": (str(own / "nanolint"), "--version"),
            "nanolint --help": (str(own / "nanolint"), "--help"),
            "nanolint": (str(own / "nanolint"), "config/a.py", SMALL_CARD),
            "nanolint, its own model fits": (str(own / "nanolint"), own_model, LARGE_CARD),
            "nanolint, its own model does not fit": (str(own / "nanolint"), own_model, SMALL_CARD),
            "nanolint fit, its own model": (str(own / "nanolint"), "fit", own_model, SMALL_CARD),
            "torch-preflight check": (str(programs / "torch-preflight"), "check", "config/a.py"),
            "torchfix": (str(programs / "torchfix"), "config/a.py"),
            "fixit lint": (str(programs / "fixit"), "lint", "config/a.py"),
        }
        named = {name for name, *_ in TARGETS if name.endswith(AGAIN)}
        commands |= {name: commands[name.removesuffix(AGAIN)] for name in sorted(named)}
        write_table("one config", ratios(measure(commands, project, folder / "cache")))
        many = write_project(folder / "many", distinct_configs(MANY))
        rows = [
            rate(f"{card}{again}", *throughput(own / "nanolint", many, card, folder / card))
            for card in (LARGE_CARD, SMALL_CARD)
            for again in ("", AGAIN)
        ]
        head = [
            "| target GPU | configs a second | target | | most memory | target | |",
            "|---|---|---|---|---|---|---|",
        ]
        write_table("many configs", head + rows)


def install(folder: Path, *packages: str) -> Path:
    """Install packages into an environment of their own; returns the folder of its programs."""
    venv.create(folder, with_pip=True)
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    subprocess.run([programs / "python", "-m", "pip", "install", "--quiet", *packages], check=True)
    return programs


def measure(
    commands: dict[str, tuple[str, ...]], folder: Path, cache: Path
) -> dict[str, list[float]]:
    """Seconds of each command in each round, after one round that does not count."""
    times: dict[str, list[float]] = {name: [] for name in commands}
    for number in range(ROUNDS + 1):
        for name, command in commands.items():
            kept = environment(cache if name.endswith(AGAIN) else None)
            start = time.perf_counter()
            done = subprocess.run(
                command, cwd=folder, capture_output=True, text=True, check=False, env=kept
            )
            taken = time.perf_counter() - start
            if done.returncode not in (0, 1):
                raise SystemExit(f"{name} failed: {done.stderr}")
            if number:
                times[name].append(taken)
    return times


def environment(cache: Path | None = None) -> dict[str, str]:
    """This process's, but with nothing of the checkout on the path; readings are kept in ``cache``,
    or not at all."""
    kept = {name: text for name, text in os.environ.items() if name not in UNWANTED}
    return {**kept, "NO_COLOR": "1", "NANOLINT_CACHE": str(cache or "")}


def ratios(times: dict[str, list[float]]) -> list[str]:
    """Each ratio beside its target."""
    rows = [
        "| command | ms | compared with | ms | ratio | target | |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, other, target in TARGETS:
        pairs = zip(times[name], times[other], strict=True)
        ratio = statistics.median(ours / theirs for ours, theirs in pairs)
        ours, theirs = (1000 * statistics.median(times[each]) for each in (name, other))
        told = f"{ratio:.2f} | {target} | {verdict(ratio <= target)}"
        rows.append(f"| `{name}` | {ours:.0f} | `{other}` | {theirs:.0f} | {told} |")
    return rows


def rate(card: str, per_second: float, mebibytes: float) -> str:
    """The throughput on one card beside its targets."""
    enough = verdict(per_second >= LEAST_PER_SECOND)
    small = verdict(mebibytes * (1 << 20) <= MOST_BYTES)
    return (
        f"| {card.removeprefix('--gpu=')} | {per_second:.0f} | {LEAST_PER_SECOND} | {enough} "
        f"| {mebibytes:.0f} MiB | {MOST_BYTES // 10**6} MB | {small} |"
    )


def verdict(met: bool) -> str:
    """Whether a target was met, in a word."""
    return "met" if met else "missed"


def write_table(name: str, rows: list[str], page: Path = PAGE) -> None:
    """Print a table, and put it in the place of the one on a page that has this name."""
    if hasattr(os, "getloadavg"):
        rows = [*rows, "", f"Measured at a load average of {os.getloadavg()[0]:.1f}."]
    print("\n".join(rows), flush=True)
    head, mark, rest = page.read_text("utf-8").partition(f"<!-- {name} -->\n")
    _, end, tail = rest.partition("<!-- end -->")
    if not (mark and end):
        raise SystemExit(f"{page} has no place for the table {name!r}")
    page.write_text(f"{head}{mark}" + "\n".join(rows) + f"\n{end}{tail}", "utf-8")


def distinct_configs(count: int) -> dict[str, str]:
    """As many configs, no two alike, of ordinary sizes."""
    shapes = itertools.product(
        (2, 4, 8, 12, 16), (256, 512, 1024, 2048), (4, 6, 8, 12, 24), (256, 384, 512, 768, 1024)
    )
    kinds = itertools.product(shapes, (8, 40))
    return {
        f"config/run_{number:04}.py": (
            f"# run {number}\nout_dir = 'out-{number}'\nbatch_size = {batch}\n"
            f"block_size = {block}\nn_layer = {layers}\nn_head = {width // 64}\nn_embd = {width}\n"
            f"gradient_accumulation_steps = {steps}  # micro-batches\ndtype = 'bfloat16'\n"
        )
        for number, ((batch, block, layers, width), steps) in enumerate(
            itertools.islice(kinds, count)
        )
    }


def throughput(program: Path, folder: Path, card: str, cache: Path) -> tuple[float, float]:
    """Configs a second, and the most memory of all processes together in MiB (Linux only)."""
    start = time.perf_counter()
    process = subprocess.Popen(
        (str(program), "config", card, "--output-format=concise"),
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment(cache),
        start_new_session=True,
    )
    peak = 0
    done = threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.1):
            peak = max(peak, session_bytes(process.pid))

    watcher = threading.Thread(target=watch)
    watcher.start()
    process.wait()
    taken = time.perf_counter() - start
    done.set()
    watcher.join()
    return MANY / taken, peak / (1 << 20)


def session_bytes(session: int) -> int:
    """The proportional memory of the processes of a session, shared pages counted once."""
    total = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if os.getsid(int(folder.name)) != session:
                continue
            rollup = (folder / "smaps_rollup").read_text()
        except OSError:  # it has ended, or is not ours
            continue
        total += sum(int(line.split()[1]) for line in rollup.splitlines() if line[:4] == "Pss:")
    return total * 1024


if __name__ == "__main__":
    main()
