"""Record what PyTorch allocates for variations of a script: validation/recorded/variations.json.

    python validation/record_variations.py --python path/to/python   # that has PyTorch for CUDA

Those that are recorded of the same text are left. It says where reading gives other bytes and does
not doubt them.
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
CARD = "rtx-4090"
Row = dict[str, Any]


def rows() -> dict[str, Row]:
    """What is recorded, by the names of the variations."""
    found: dict[str, Row] = json.loads(TABLE.read_text(encoding="utf-8")) if TABLE.exists() else {}
    return found


def digest(name: str) -> str:
    """One word for the text of a variation: what is recorded is of this text."""
    return hashlib.sha256(TEXTS[name].encode()).hexdigest()[:16]


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


def traced(folder: Path, python: str) -> Row:
    """The verdict by PyTorch itself."""
    options = ["--yes", "--gpu", CARD, "--format", "json", "--python", python]
    return asked(folder, "trace", *options, "--", "python", "train.py")


def main() -> None:
    """Record and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", required=True, help="has PyTorch for CUDA")
    python = str(Path(parser.parse_args().python).absolute())
    table = {name: row for name, row in rows().items() if name in TEXTS}
    for name in TEXTS:
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            (folder / "train.py").write_text(TEXTS[name], encoding="utf-8")
            if table.get(name, {}).get("text") != digest(name):
                found = traced(folder, python)
                peak = found.get("peak", {})
                table[name] = {
                    "text": digest(name),
                    "torch": found.get("torch"),
                    "allocated": peak.get("allocated_bytes"),
                    "reserved": peak.get("reserved_bytes"),
                }
                lines = [f"{json.dumps(each)}: {json.dumps(row)}" for each, row in table.items()]
                TABLE.write_text("{\n " + ",\n ".join(lines) + "\n}\n", encoding="utf-8")
            seen = read(folder)
        peak = seen.get("peak") or {}
        same = peak.get("allocated_bytes") == table[name]["allocated"]
        if not same and seen.get("trust") == "read" and not seen.get("doubts"):
            print(f"{name}: {peak.get('allocated_bytes')}, not {table[name]['allocated']}")


if __name__ == "__main__":
    main()
