"""What stands in for loggers that are not installed, and for ``nvidia-smi``."""

from __future__ import annotations

import importlib.abc
import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

LOGGERS = frozenset(
    """
    aim clearml comet_ml mlflow neptune nvtx opentelemetry swanlab tensorboard tensorboardX trackio
    wandb
    """.split()  # noqa: SIM905
)
FOLDER = Path(os.environ["TORCHINDUCTOR_CACHE_DIR"]).with_name("programs")
ASKED = FOLDER / "nvidia-smi.asked"


class Nothing:
    """Whatever is done with it, it is nothing; as a decorator it leaves a function as it is."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        if len(arguments) == 1 and callable(arguments[0]) and not options:
            return arguments[0]
        return self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __setitem__(self, _key: Any, _value: Any) -> None:
        pass

    def __str__(self) -> str:
        return ""

    def __bool__(self) -> bool:
        return False


class Silent(ModuleType):
    """A module of a logger; ``invented`` is told once it is used."""

    __version__ = "9999"

    def __init__(self, name: str, invented: dict[str, None]) -> None:
        super().__init__(name)
        self.__path__ = []
        self._told = invented, f"{name.partition('.')[0]}, which is not installed: it logs nothing"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        invented, words = self._told
        invented[words] = None
        return Nothing()


class SilentLoggers(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds loggers that nobody else finds."""

    def __init__(self, invented: dict[str, None]) -> None:
        self._invented = invented

    def install(self) -> None:
        """After all other finders; PyTorch's own module for TensorBoard needs TensorBoard."""
        name = "torch.utils.tensorboard"
        if importlib.util.find_spec("tensorboard") is None:
            module = sys.modules[name] = Silent("tensorboard", self._invented)
            vars(torch.utils)["tensorboard"] = module
        sys.meta_path.append(self)

    def find_spec(self, name: str, _path: Any = None, _target: Any = None) -> ModuleSpec | None:
        first = name.partition(".")[0]
        if first not in LOGGERS or (name != first and not isinstance(sys.modules[first], Silent)):
            return None
        return importlib.util.spec_from_loader(name, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return Silent(spec.name, self._invented)

    def exec_module(self, module: ModuleType) -> None:
        pass


def say_what_the_card_is() -> None:
    """``nvidia-smi`` that tells of the card that is pretended, first of all programs."""
    card = torch.cuda.get_device_properties(0)
    megabytes, count = card.total_memory >> 20, torch.cuda.device_count()
    known = {
        "name": card.name, "gpu_name": card.name, "memory.total": f"{megabytes} MiB",
        "memory.free": f"{megabytes} MiB", "memory.used": "0 MiB", "index": "$i", "count": count,
        "compute_cap": f"{card.major}.{card.minor}", "utilization.gpu": "0 %",
    }  # fmt: skip
    cases = "".join(f'{name}) v="{value}";; ' for name, value in known.items())
    FOLDER.mkdir(parents=True, exist_ok=True)
    program = FOLDER / "nvidia-smi"
    program.write_text(
        f"""#!/bin/sh
: > "{ASKED}"
i=0
while [ $i -lt {count} ]; do
  asked=$(echo "$*" | sed -n 's/.*--query-gpu[= ]\\([^ ]*\\).*/\\1/p' | tr , ' ')
  if [ -n "$asked" ]; then
    line=
    for f in $asked; do
      case $f in {cases}*) v="[N/A]";; esac
      case "$*" in *nounits*) v=${{v%% MiB}}; v=${{v%% %}};; esac
      line="$line${{line:+, }}$v"
    done
    echo "$line"
  else
    echo "GPU $i: {card.name} ({megabytes} MiB)"
  fi
  i=$((i + 1))
done
"""
    )
    program.chmod(0o755)
    os.environ["PATH"] = os.pathsep.join([str(FOLDER), os.environ.get("PATH", os.defpath)])


def asked() -> list[str]:
    """Says that it was asked, if it was."""
    return ["nvidia-smi: it tells of the card that is pretended"] if ASKED.exists() else []
