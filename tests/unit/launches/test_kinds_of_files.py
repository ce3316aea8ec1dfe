"""Launch lines in files of other kinds than shell scripts."""

from __future__ import annotations

import json

import pytest

from nanolint.launches.files import find_launches, is_launch_file
from nanolint.launches.sweep import NotASweep
from nanolint.source.settings_text import NoSettings


def runs(name: str, text: str) -> list[str]:
    """Each run with its place; a word that is not known has a question mark behind it."""
    told = []
    for found in find_launches(name, text):
        if found.launch is None:
            told.append(f"{found.place} ! {found.reason}")
            continue
        words = [f"{a.text}{'?' if a.unknown else ''}" for a in found.launch.arguments]
        count = found.launch.processes.count
        told.append(" ".join([f"{found.place} x{count}", found.launch.script.as_posix(), *words]))
    return told


@pytest.mark.parametrize(
    "name",
    [
        *("run.sh", "a/job.slurm", "x.sbatch", "x.job", "x.bash", "Makefile", "rules.mk"),
        *("GNUmakefile", "Dockerfile", "docker/Dockerfile.train", "train.dockerfile"),
        *("Colab.ipynb", "sweep.yaml", "sweep.yml"),
    ],
)
def test_files_that_hold_launch_lines(name: str) -> None:
    assert is_launch_file(name)


@pytest.mark.parametrize("name", ["train.py", "README.md", "log.txt", "config", "makefile.py"])
def test_files_that_hold_none(name: str) -> None:
    assert not is_launch_file(name)


class TestMakefile:
    def test_recipes_and_variables(self) -> None:
        text = (
            "GPUS ?= 4\nCONFIG := config/$(NAME).py\nNAME = big\nMORE += --a=1\nMORE += --b=2\n\n"
            "train: data\n\t@torchrun --nproc_per_node=$(GPUS) \\\n\t\ttrain.py ${CONFIG} $(MORE)\n"
            "\tfor n in 1 2; do python train.py --n=$$n; done\n\n"
            "other:\n\t-cd sub && python train.py\n"
        )
        assert runs("Makefile", text) == [
            "8 x4 train.py config/big.py --a=1 --b=2",
            "10 x1 train.py --n=1",
            "10 x1 train.py --n=2",
            "13 x1 train.py",
        ]

    def test_what_only_make_knows(self) -> None:
        text = (
            "ifdef BIG\nBS = 64\nelse\nBS = 4\nendif\nN = $(shell nproc)\nlarge: W = 8\n"
            "t:\n\tpython train.py --bs=$(BS) --n=$(N) --w=$(W) --t=$@ --u=$(UNSET)\n"
        )
        assert runs("Makefile", text) == [
            "9 x1 train.py --bs=${BS}? --n=${make}? --w=${W}? --t=${make}? --u=${UNSET}?"
        ]

    def test_one_shell(self) -> None:
        text = ".ONESHELL:\nt:\n\tBS=4\n\tpython train.py --bs=$$BS\n"
        assert runs("Makefile", text) == ["3 x1 train.py --bs=4"]
        assert runs("Makefile", text.removeprefix(".ONESHELL:\n")) == ["3 x1 train.py --bs=$BS?"]

    def test_variables_that_never_end(self) -> None:
        text = "A = $(B)$(B)\nB = $(A)$(A)\nt:\n\tpython train.py --a=$(A)\n"
        assert len("".join(runs("Makefile", text))) < 10_000


class TestDockerfile:
    @pytest.mark.parametrize(
        ("instructions", "found"),
        [
            ("CMD python train.py a.py", "x1 train.py a.py"),
            ('CMD ["python", "train.py", "a.py"]', "x1 train.py a.py"),
            ('ENTRYPOINT ["python", "train.py"]\nCMD ["a.py", "--b=4"]', "x1 train.py a.py --b=4"),
            ("ENV N=2\nCMD torchrun --nproc_per_node=$N train.py", "x2 train.py"),
            ("ENV N 2\nCMD torchrun --nproc_per_node=${N} train.py", "x2 train.py"),
            ("WORKDIR /app\nCMD python /app/train.py /app/a.py", "x1 train.py a.py"),
            ("RUN pip install . && \\\n  python train.py a.py", "x1 train.py a.py"),
            ('ENTRYPOINT ["bash", "-c"]\nCMD ["python train.py a.py"]', "x1 train.py a.py"),
        ],
    )
    def test_what_a_container_runs(self, instructions: str, found: str) -> None:
        (run,) = runs(
            "Dockerfile", f"FROM python:3.12\n# CMD python train.py no.py\n{instructions}\n"
        )
        assert run.split(maxsplit=1)[1] == found

    def test_the_last_command_counts(self) -> None:
        text = "FROM a\nCMD python train.py a.py\nCMD python train.py b.py\n"
        assert runs("Dockerfile", text) == ["3 x1 train.py b.py"]


def notebook(*cells: str) -> str:
    made = [{"cell_type": "code", "source": cell.splitlines(keepends=True)} for cell in cells]
    return json.dumps({"cells": [{"cell_type": "markdown", "source": "!python train.py"}, *made]})


class TestNotebook:
    def test_lines_and_cells_of_the_shell(self) -> None:
        text = notebook(
            "import os\n!pip install torch\n!python train.py config/a.py \\\n    --b=4\n",
            "%%bash\ncd sub\npython train.py --c=1\n",
            "%run train.py config/b.py --d=1",
            "if True:\n    !torchrun --nproc_per_node=2 train.py\n",
            "out = !python train.py --e=1",
        )
        assert runs("x.ipynb", text) == [
            "cell 2:3 x1 train.py config/a.py --b=4",
            "cell 3:3 x1 train.py --c=1",
            "cell 4:1 x1 train.py config/b.py --d=1",
            "cell 5:2 x2 train.py",
            "cell 6:1 x1 train.py --e=1",
        ]

    def test_names_of_python(self) -> None:
        text = notebook(
            "bs = 8\nname = 'a'\nsteps = bs * 2\n",
            "for n in range(3):\n    !python train.py --bs={bs} --n={n} --s=$steps --x={bs * 2}\n",
            "!python train.py config/{name}.py --v=$bs",
        )
        assert runs("x.ipynb", text) == [
            "cell 3:2 x1 train.py --bs=8 --n=${n}? --s=$steps? --x=${expression}?",
            "cell 4:1 x1 train.py config/a.py --v=8",
        ]
        assert runs("x.ipynb", notebook("bs = 8", "bs = 4", "!python train.py --bs={bs}")) == [
            "cell 4:1 x1 train.py --bs=${bs}?"
        ]

    def test_cells_that_are_no_python_bind_nothing(self) -> None:
        text = notebook(
            "bs = 8", "%%bash\necho bs", "%%writefile a.py\nbs = 4", "!python train.py {bs}"
        )
        assert runs("x.ipynb", text) == ["cell 5:1 x1 train.py 8"]
        text = notebook("bs = 8", "%%bash --out bs\necho", "!python train.py {bs}")
        assert runs("x.ipynb", text) == ["cell 4:1 x1 train.py ${bs}?"]

    def test_magics(self) -> None:
        text = notebook(
            "%env CUDA_VISIBLE_DEVICES=0,1\n%cd nanoGPT\n!torchrun --nproc_per_node=gpu train.py",
            "%%writefile config/c.py\nbatch_size = 4\n",
            "!python train.py config/c.py",
        )
        first, second = find_launches("x.ipynb", text)
        assert second.launch is not None
        assert first.launch is not None
        assert (first.launch.folder, first.launch.processes.count) == ("nanoGPT", 2)
        assert second.place == "cell 4:1"
        assert list(second.launch.cells) == ["nanoGPT/config/c.py"]

    @pytest.mark.parametrize(
        "text", ["", "{}", "[]", '{"cells": 3}', '{"cells": [3]}', "[" * 100_000]
    )
    def test_what_is_no_notebook(self, text: str) -> None:
        with pytest.raises(ValueError, match="not a notebook"):
            list(find_launches("x.ipynb", text))


class TestSweep:
    SWEEP = (
        "program: train.py\nmethod: grid\nparameters:\n"
        "  batch_size:\n    values: [4, 64]\n  compile:\n    value: true\n"
    )

    def test_each_point_of_the_grid(self) -> None:
        assert runs("sweep.yaml", self.SWEEP) == [
            "3 x1 train.py --batch_size=4 --compile=True",
            "3 x1 train.py --batch_size=64 --compile=True",
        ]

    def test_the_command(self) -> None:
        text = self.SWEEP + (
            "command:\n  - ${env}\n  - torchrun\n  - --nproc_per_node=2\n  - ${program}\n"
            "  - config/a.py\n  - ${args}\n"
        )
        assert runs("sweep.yaml", text)[0] == (
            "3 x2 train.py config/a.py --batch_size=4 --compile=True"
        )

    def test_what_the_sweep_chooses(self) -> None:
        text = "program: train.py\nparameters: {lr: {min: 0.1, max: 1.0}, a: {value: x y}}\n"
        assert runs("sweep.yaml", text) == ["2 x1 train.py --lr=${sweep}? --a=x y"]

    def test_a_large_grid(self) -> None:
        text = "program: train.py\nparameters:\n" + "".join(
            f"  k{n}: {{values: [1, 2]}}\n" for n in range(10)
        )
        found = runs("sweep.yaml", text)
        assert found[0] == "2 ! its grid has 1,024 points; nanolint checks 64 of them"
        assert len(found) == 65

    @pytest.mark.parametrize(
        "text",
        [
            *("", "a: [", "- 1\n", "a: 1\n", "parameters: {a: {value: 1}}\n", "\0"),
            "a: &a [1]\n" + "".join(f"b{n}: &b{n} [*a, *a]\n" for n in range(5)),
            "[" * 5_000,
        ],
    )
    def test_what_is_no_sweep(self, text: str) -> None:
        with pytest.raises((NotASweep, NoSettings), match=r"not a sweep|not YAML|too deeply"):
            list(find_launches("sweep.yaml", text))
