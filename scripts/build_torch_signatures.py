"""Write which arguments and attributes PyTorch's classes and functions have in any release.


    python scripts/build_torch_signatures.py PYTHON...   # interpreters with torch, one a release

A name that none of them has is a mistake of the script, not a gap of nanolint's own texts. Names
that are written already are kept: they are of releases that need not be at hand.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
WRITTEN = ROOT / "nanolint" / "interpreter" / "torch" / "signatures.json"
# Of releases before those that are asked: nobody misspelt them.
GONE = {"numpy": "asscalar loads mafromtxt ndfromtxt", "torch": "rfft irfft ifft"}
OF_ARRAYS = (
    "itemset newbyteorder ptp tostring filename flush mode offset"  # memmap's, and gone ones
)
ASK = """
import inspect, json, pkgutil
import numpy, torch
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
        "Tensor": torch.zeros(1), "ndarray": numpy.ma.zeros(1)}
own = {name: sorted(set(dir(each)) | set(getattr(each, "__annotations__", {})))
       for name, each in classes.items() if issubclass(each, (nn.Module, torch.optim.Optimizer))}
spaces = {"torch": torch, "torch.nn": nn, "torch.nn.functional": F, "torch.optim": torch.optim,
          "torch.optim.lr_scheduler": lr_scheduler, "torch.utils.data": data,
          "torch.cuda": torch.cuda, "torch.nn.init": nn.init, "torch.nn.utils": nn.utils,
          "numpy": numpy}
made = "__deprecated_attrs__", "_deprecated_attrs"  # what modules make when they are asked for it
names = {name: {*dir(each), *(one for key in made for one in getattr(each, key, ())),
                *(one.name for one in pkgutil.iter_modules(getattr(each, "__path__", ())))}
         for name, each in spaces.items()}
names = {name: sorted(e for e in found if e[0] != "_") for name, found in names.items()}
print(json.dumps({"names": names, "arguments": {k: v for k, v in given.items() if v is not None},
                  "attributes": {**own, **{k: dir(v) for k, v in base.items()}}}))
"""


def main() -> None:
    tables: dict[str, dict[str, set[str]]] = {"arguments": {}, "attributes": {}, "names": {}}
    for key, table in json.loads(WRITTEN.read_text("utf-8")).items():
        tables[key] = {name: set(words.split()) for name, words in table.items()}
    arguments, attributes, spaces = tables.values()
    for name, words in GONE.items():
        spaces.setdefault(name, set()).update(words.split())
    attributes.setdefault("ndarray", set()).update(OF_ARRAYS.split())
    for python in sys.argv[1:]:
        asked = subprocess.run((python, "-c", ASK), check=True, capture_output=True, text=True)
        said = json.loads(asked.stdout)
        for key, known in tables.items():
            for name, words in said[key].items():
                known.setdefault(name, set()).update(each for each in words if "__" not in each)
    shared = attributes["Module"] & set.union(*attributes.values())
    lines = {
        "arguments": {name: " ".join(sorted(words)) for name, words in sorted(arguments.items())},
        "attributes": {
            name: " ".join(sorted(words if name == "Module" else words - shared))
            for name, words in sorted(attributes.items())
            if name in ("Module", "Optimizer", "Tensor") or words - shared
        },
        "names": {name: " ".join(sorted(words)) for name, words in sorted(spaces.items())},
    }
    WRITTEN.write_text(json.dumps(lines, indent=0) + "\n", "utf-8")


if __name__ == "__main__":
    main()
