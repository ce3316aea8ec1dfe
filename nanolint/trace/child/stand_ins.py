"""What stands in for things that a traced script needs and does not need the values of."""

from __future__ import annotations

import contextlib
import inspect
import os
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch

from .attention import attend_by_cudnn
from .finite import say_finite
from .silent import SilentLoggers, say_what_the_card_is

TOKENS = 1 << 24  # in a file of tokens that is missing
PATIENCE = timedelta(days=1)  # --timeout ends a trace before
DRAWN = (
    "normal_", "uniform_", "trunc_normal_", "kaiming_uniform_", "kaiming_normal_",
    "xavier_uniform_", "xavier_normal_", "orthogonal_", "zeros_", "ones_", "constant_",
)  # fmt: skip


class StandIns:
    """Takes the place of functions; what was met they say for people."""

    def __init__(self, *, protected: bool) -> None:
        self._protected = protected  # what is written is thrown away
        self.indices: dict[str, None] = {}  # where a number on the card was one
        self.skipped: dict[str, None] = {}  # writes that did not happen
        self.invented: dict[str, None] = {}  # data that was not there

    def install(self) -> None:
        """All of them."""
        self._no_saving()
        self._no_loggers()
        self._missing_tokens()
        self._numbers_on_the_card()
        self._no_checks()
        _no_drawing()
        say_what_the_card_is()
        attend_by_cudnn()
        say_finite()
        _alone()

    def _no_saving(self) -> None:
        def save(_what: Any, file: Any = "a file", *_: Any, **__: Any) -> None:
            name = file if isinstance(file, (str, os.PathLike)) else type(file).__name__
            self.skipped[f"torch.save: {name}{_caller()}"] = None
            if self._protected and _missing(file):
                with contextlib.suppress(OSError):  # an empty one, to be renamed or measured
                    Path(file).touch()

        torch.save = save

    def _numbers_on_the_card(self) -> None:
        """All of them are 0: a window that ends with one is empty, and nothing says so."""
        index_of = torch.Tensor.__index__

        def index(tensor: Any) -> Any:
            if tensor.is_cuda:
                frame = sys._getframe(1)
                self.indices[f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"] = None
            return index_of(tensor)

        torch.Tensor.__index__ = index

    def _no_checks(self) -> None:
        """A distribution finds fault with zeros: they are no probabilities."""
        kind: Any = torch.distributions.Distribution
        kind.set_default_validate_args(False)
        made = kind.__init__

        def noted(distribution: Any, *arguments: Any, **options: Any) -> None:
            self.invented["the checks of torch.distributions: values are 0 in a trace"] = None
            made(distribution, *arguments, **{**options, "validate_args": False})

        kind.__init__ = noted

    def _no_loggers(self) -> None:
        os.environ |= {
            "WANDB_MODE": "disabled", "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1",
            "HF_DATASETS_OFFLINE": "1", "MLFLOW_TRACKING_URI": "", "COMET_MODE": "disabled",
            "TQDM_DISABLE": "1", "TOKENIZERS_PARALLELISM": "false",
        }  # fmt: skip
        SilentLoggers(self.invented).install()

    def _missing_tokens(self) -> None:
        try:
            import numpy
        except ImportError:
            return
        memmap, fromfile = numpy.memmap, numpy.fromfile

        def zeros(name: Any, dtype: Any) -> Any:
            self.invented[f"{name}: {TOKENS:,} zeros as {numpy.dtype(dtype).name}"] = None
            return numpy.zeros(TOKENS, dtype)

        class Memmap(memmap):  # type: ignore[misc, valid-type]
            """numpy.memmap, with zeros for a file that is missing."""

            def __new__(cls, filename: Any, dtype: Any = "uint8", mode: Any = "r+",
                        *rest: Any, **options: Any) -> Any:  # fmt: skip
                if _missing(filename) and str(mode).startswith("r"):
                    return zeros(filename, dtype)
                return memmap(filename, dtype, mode, *rest, **options)

        def read(file: Any, dtype: Any = float, *rest: Any, **options: Any) -> Any:
            if _missing(file):
                return zeros(file, dtype)
            return fromfile(file, dtype, *rest, **options)

        numpy.memmap = Memmap  # type: ignore[misc]
        numpy.fromfile = read


def _missing(file: Any) -> bool:
    return isinstance(file, (str, os.PathLike)) and not Path(file).exists()


def _caller() -> str:
    frame = inspect.stack()[2]
    return f" ({Path(frame.filename).name}:{frame.lineno})"


def _no_drawing() -> None:
    """Weights keep the zeros that they were made of: memory that is not touched costs nothing."""
    for name in DRAWN:
        if hasattr(torch.nn.init, name):
            setattr(torch.nn.init, name, lambda tensor, *_arguments, **_options: tensor)


def _alone() -> None:
    """The other ranks are not there: what they would tell is what this one says."""
    import torch.distributed as distributed

    if not distributed.is_available():
        return
    from torch.distributed import distributed_c10d

    initialise = distributed.init_process_group

    def alone(*_arguments: Any, **_options: Any) -> Any:
        rank, world = (
            int(os.environ.get(name, at)) for name, at in (("RANK", 0), ("WORLD_SIZE", 1))
        )
        store = distributed.HashStore()
        return initialise("nccl", rank=rank, world_size=world, store=store)

    distributed.init_process_group = distributed_c10d.init_process_group = alone
    make = distributed_c10d._new_process_group_helper

    def patient(*arguments: Any, **options: Any) -> Any:
        """Nothing that was begun is over before a backward pass (exchanged.py), and compiling takes
        long: NCCL's watchdog would take that for a process that hangs, and end this one."""
        return make(*arguments, **{**options, "timeout": PATIENCE})

    distributed_c10d._new_process_group_helper = patient
