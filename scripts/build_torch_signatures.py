"""Write which arguments and attributes PyTorch's classes and functions have in any release.


    python scripts/build_torch_signatures.py PYTHON...   # interpreters with torch, one a release

A name that none of them has is a mistake of the script, not a gap of nanolint's own texts.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
WRITTEN = ROOT / "nanolint" / "interpreter" / "torch" / "signatures.json"
ASK = """
import inspect, json
import torch
from torch import nn
from torch.nn import functional as F
from torch.optim import lr_scheduler
from torch.utils import data

def arguments(of):
    try:
        found = inspect.signature(of).parameters.values()
    except (TypeError, ValueError):
        return None
    return None if any(each.kind is each.VAR_KEYWORD for each in found) else [e.name for e in found]

classes = {}
for space in (nn, torch.optim, lr_scheduler, data):
    for name, each in vars(space).items():
        if inspect.isclass(each) and not name.startswith("_"):
            classes[name] = each
functions = {f"F.{name}": each for name, each in vars(F).items()
             if inspect.isfunction(each) and not name.startswith("_")}
given = {name: arguments(each) for name, each in {**classes, **functions}.items()}
base = {"Module": nn.Module(), "Optimizer": torch.optim.SGD([nn.Parameter(torch.zeros(1))]),
        "Tensor": torch.zeros(1)}
own = {name: sorted(set(dir(each)) | set(getattr(each, "__annotations__", {})))
       for name, each in classes.items() if issubclass(each, (nn.Module, torch.optim.Optimizer))}
print(json.dumps({"arguments": {k: v for k, v in given.items() if v is not None},
                  "attributes": {**own, **{k: dir(v) for k, v in base.items()}}}))
"""


def main() -> None:
    arguments: dict[str, set[str]] = {}
    attributes: dict[str, set[str]] = {}
    for python in sys.argv[1:]:
        asked = subprocess.run((python, "-c", ASK), check=True, capture_output=True, text=True)
        said = json.loads(asked.stdout)
        for known, found in ((arguments, said["arguments"]), (attributes, said["attributes"])):
            for name, words in found.items():
                known.setdefault(name, set()).update(each for each in words if "__" not in each)
    shared = attributes["Module"] & set.union(*attributes.values())
    lines = {
        "arguments": {name: " ".join(sorted(words)) for name, words in sorted(arguments.items())},
        "attributes": {
            name: " ".join(sorted(words if name == "Module" else words - shared))
            for name, words in sorted(attributes.items())
            if name in ("Module", "Optimizer", "Tensor") or words - shared
        },
    }
    WRITTEN.write_text(json.dumps(lines, indent=0) + "\n", "utf-8")


if __name__ == "__main__":
    main()
