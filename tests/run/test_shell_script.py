"""Launch lines in shell scripts, which are never run."""

from __future__ import annotations

from pathlib import Path

import pytest

from nanolint.run.shell_script import find_launches
from nanolint.source.values import Known, Unknown

SCRIPT = """\
#!/bin/bash
export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True
CONFIG=config/large.py
# python train.py config/commented.py
torchrun --standalone \\
    --nproc_per_node=${GPUS:-4} \\
    train.py "$CONFIG" --batch_size=32 "$@" 2>&1 | tee log.txt
echo "it's fine
over two lines"
cd here && python train.py config/small.py --out_dir=$(date +%s) --n_layer=2; echo done
python sample.py --out_dir=out
"""


def test_lines_variables_and_what_surrounds_a_command() -> None:
    first, second = find_launches(SCRIPT)
    assert (first.row, second.row) == (5, 10)
    assert first.launch is not None
    assert first.launch.configs == (Path("config/large.py"),)
    assert first.launch.overrides == (("batch_size", Known(32)),)
    assert (first.launch.world_size, first.launch.allocator) == (4, "expandable")
    assert second.launch is not None
    assert second.launch.configs == (Path("config/small.py"),)
    (folder, found), layers = second.launch.overrides
    assert folder == "out_dir"
    assert isinstance(found, Unknown)
    assert layers == ("n_layer", Known(2))


@pytest.mark.parametrize(
    "script",
    [
        "",
        "make all\n",
        "python prepare.py\n",
        "python -m torch.distributed.run\n",
        "echo 'python train.py",
        "pip install x.py $(cat",
    ],
)
def test_scripts_that_launch_nothing(script: str) -> None:
    assert list(find_launches(script)) == []


def test_a_config_that_only_a_run_would_know() -> None:
    (found,) = find_launches("for c in config/*; do python train.py $c; done\n")
    assert found.launch is None
    assert found.reason == "$c is known only when the script runs"


@pytest.mark.parametrize(
    "script",
    [
        "a=xx\n" + "a=$a$a\n" * 60 + "python train.py $a.py\n",
        "`" * 1_000_001 + ".py",
        "a=${a-" * 200_000,
        "\\\n" * 500_000 + "a.py",
    ],
    ids=["variables that double", "quotes", "defaults", "continued lines"],
)
def test_nothing_grows_without_end(script: str) -> None:
    assert not [found for found in find_launches(script) if found.launch is not None]
