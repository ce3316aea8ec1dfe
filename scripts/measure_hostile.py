"""Measure what hostile input costs: a table of validation/robustness.md, from the tests' cases.

    python scripts/measure_hostile.py

Linux only: the memory is the most that the process ever held, as its /proc/self/status says.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "rules")]

from tests.support import guard  # noqa: E402
from tests.support.hostile_cases import CASES, GOOD, GOOD_TEXT, JUDGED, Case  # noqa: E402
from tests.support.planting import text  # noqa: E402

ORDINARY = Case("two ordinary configs", text("batch_size = 4\nblock_size = 256\n"), None)
TELL_PEAK = """\
import atexit, re
def tell():
    with open("/proc/self/status") as status, open({path!r}, "w") as file:
        file.write(re.search(r"VmHWM:\\s*(\\d+)", status.read())[1])
atexit.register(tell)
from nanolint.cli.main import entry_point
entry_point()
"""
MESSAGE_WIDTH = 100
PAGE = ROOT / "validation" / "robustness.md"
START, END = "<!-- hostile input -->\n", "<!-- end -->"


def measure(case: Case) -> str:
    """A row of the table."""
    with tempfile.TemporaryDirectory() as place:
        peak = Path(place) / "peak"
        folder = Path(place) / "folder"
        folder.mkdir()
        (folder / GOOD).write_text(GOOD_TEXT)
        case.plant(folder)
        code = TELL_PEAK.format(path=str(peak))
        ended = guard.judge(folder, case, python=("-c", code))
        mebibytes = int(peak.read_text()) >> 10
        told = next((line for line in ended.lines if case.line and case.line in line), "")
        told = told.replace(f"{folder}/", "").removeprefix("nanolint: ").replace("|", "\\|")
    shown = told if len(told) <= MESSAGE_WIDTH else f"{told[: MESSAGE_WIDTH - 3]}..."
    message = f"`{shown}`" if shown else "nothing"
    if case.line == JUDGED:
        message = "nothing; the config is checked"
    return f"| {case.name} | {ended.seconds:.1f} | {mebibytes} | {ended.status} | {message} |"


def main() -> int:
    """Write the table into the page."""
    rows = ["| what lies there | s | MiB | status | what is said of it |", "|---|---|---|---|---|"]
    rows += map(measure, (ORDINARY, *CASES))
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(START)
    _, _, after = rest.partition(END)
    table = "\n".join(rows)
    PAGE.write_text(f"{before}{START}\n{table}\n\n{END}{after}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
