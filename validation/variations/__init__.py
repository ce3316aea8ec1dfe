"""Training scripts of a small GPT in variations: each is something that people change, and that may
take other memory.

A table is a script, its usual parts, and the parts that each variation has instead; one without a
script varies that of ``settings.toml``. What PyTorch takes for each is recorded by
``record_variations.py``; a test holds what is read to that.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TABLES = (
    *("settings", "models", "loops", "compiled", "mixtures", "modern", "kinds", "training"),
    *("python", "transformers", "trainer", "lightning", "lora"),
)


def _texts() -> dict[str, str]:
    found: dict[str, str] = {}
    usual: dict[str, Any] = {}
    for table in TABLES:
        read = tomllib.loads((Path(__file__).parent / f"{table}.toml").read_text(encoding="utf-8"))
        usual = usual or read
        script, its = read.get("script", usual["script"]), read.get("parts", usual["parts"])
        for name, parts in read["variations"].items():
            found[f"{table}: {name}"] = script.format(**{**its, **parts})
    return found


TEXTS = _texts()  # of each variation, by "table: name"
