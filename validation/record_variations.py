"""Record what PyTorch allocates for variations of a script: validation/recorded/variations.json.

    python validation/record_variations.py --python path/to/python   # that has PyTorch for CUDA
    python validation/record_variations.py --python path/to/python --card t4 "models: base" ...

Those that are recorded of the same text are left. Of the others it says where reading gives other
bytes and does not doubt them; it reads for the newest release, as the suite does. The second form
is for other releases and other cards, and records the variations that it names in
variations_elsewhere.json.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # the root of the repository
from validation.variations import TEXTS

TABLE = Path(__file__).parent / "recorded" / "variations.json"
ELSEWHERE = TABLE.with_name("variations_elsewhere.json")
CARD = "rtx-4090"
Row = dict[str, Any]


def rows(table: Path = TABLE) -> dict[str, Row]:
    """What is recorded, by the names of the variations; elsewhere also by release and card."""
    found: dict[str, Row] = json.loads(table.read_text(encoding="utf-8")) if table.exists() else {}
    return found


def digest(name: str) -> str:
    """One word for the text of a variation: what is recorded is of this text."""
    return digest_of(TEXTS[name])


def digest_of(text: str) -> str:
    """One word for a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def row_of(text: str, found: Row) -> Row:
    """What is recorded of a text that was traced."""
    peak = found.get("peak") or {}
    return {
        "text": digest_of(text),
        "torch": found.get("torch"),
        "allocated": peak.get("allocated_bytes"),
        "reserved": peak.get("reserved_bytes"),
    }


def asked(folder: Path, *words: str) -> Row:
    """What a command of nanolint's says of the script in ``folder``; its error, where it fails."""
    command = [sys.executable, "-m", "nanolint", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    try:
        found: Row = json.loads(done.stdout)
    except ValueError:
        return {"error": done.stderr.strip()[-300:]}
    return found


def read(folder: Path) -> Row:
    """The verdict by reading."""
    return asked(folder, "explain", "--gpu", CARD, "--format", "json", "train.py")


def traced(folder: Path, python: str, card: str = CARD) -> Row:
    """The verdict by PyTorch itself."""
    options = ["--yes", "--gpu", card, "--format", "json", "--python", python]
    return asked(folder, "trace", *options, "--", "python", "train.py")


def written(table: Path, found: dict[str, Row]) -> None:
    """Write what is recorded, a row to a line."""
    lines = [f"{json.dumps(each)}: {json.dumps(row)}" for each, row in found.items()]
    table.write_text("{\n " + ",\n ".join(lines) + "\n}\n", encoding="utf-8")


def record_elsewhere(python: str, card: str, names: list[str]) -> None:
    """Trace variations with another release, or for another card."""
    table = rows(ELSEWHERE)
    for name in names:
        with tempfile.TemporaryDirectory() as made:
            (Path(made) / "train.py").write_text(TEXTS[name], encoding="utf-8")
            found = traced(Path(made), python, card)
        row = row_of(TEXTS[name], found)
        del row["torch"]  # a part of the name here
        release = ".".join(str(found["torch"]).split(".")[:2])
        table[f"{release} {card}: {name}"] = row
        written(ELSEWHERE, table)


def main() -> None:
    """Record and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", required=True, help="has PyTorch for CUDA")
    parser.add_argument("--card", default=CARD, help="that PyTorch is to see")
    parser.add_argument("names", nargs="*", help="variations to record elsewhere")
    options = parser.parse_args()
    python = str(Path(options.python).absolute())
    if options.names:
        record_elsewhere(python, options.card, options.names)
        return
    table = {name: row for name, row in rows().items() if name in TEXTS}
    for name in TEXTS:
        if table.get(name, {}).get("text") == digest(name):
            continue
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            (folder / "train.py").write_text(TEXTS[name], encoding="utf-8")
            found, seen = traced(folder, python), read(folder)
        table[name] = row_of(TEXTS[name], found)
        written(TABLE, table)
        peak = seen.get("peak") or {}
        same = peak.get("allocated_bytes") == table[name]["allocated"]
        if not same and seen.get("trust") == "read" and not seen.get("doubts"):
            print(f"{name}: {peak.get('allocated_bytes')}, not {table[name]['allocated']}")


if __name__ == "__main__":
    main()
