"""``--fix`` rewrites a value where it stands, whatever kind of file that is, and nothing else."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from tests.support.command import nanolint
from tests.support.project_tree import write_project

CONFIG = "config/large.py"
GPU = ("--gpu=rtx-3060-12gb", "--select=NL1")
ADDED = " --gradient_accumulation_steps=512"  # 8 is what fits, of 64 with 64 passes


@pytest.fixture(autouse=True)
def project() -> None:
    large = "batch_size = 8\ngradient_accumulation_steps = 64\ndtype = 'bfloat16'\n"
    write_project(Path(), {CONFIG: large})


def fixed(name: str, text: str) -> str:
    """The text of a file that ``--fix`` has been at."""
    Path(name).write_bytes(text.encode())
    nanolint(name, *GPU, "--fix", "--fail-on=never")
    return Path(name).read_bytes().decode()


def check(name: str, template: str, added: str = ADDED) -> None:
    """``<B>`` is the micro-batch, ``<A>`` where the accumulation is put; nothing else changes."""
    before = template.replace("<B>", "64").replace("<A>", "")
    assert fixed(name, before) == template.replace("<B>", "8").replace("<A>", added)


def remaining(name: str) -> str:
    return nanolint(name, *GPU).out


SHELL = {
    "a variable": ("BATCH=<B>\npython train.py config/large.py --batch_size=$BATCH<A>\n"),
    "an exported variable in quotes": (
        'export BATCH="<B>"\r\npython train.py config/large.py --batch_size="${BATCH}"<A>\r\n'
    ),
    "a positional default": (
        "python train.py config/large.py --batch_size=${1:-<B>}<A> # a comment\n"
    ),
    "a default of a variable": (
        "BS=${BS:-<B>}\n\tpython train.py config/large.py --batch_size=$BS<A>"
    ),
    "an array": (
        "ARGS=(--compile=True\n  --batch_size=<B>\n)\n"
        "python train.py config/large.py ${ARGS[@]}<A>\n"
    ),
    "an argument of a function": (
        "run() { python train.py config/large.py --batch_size=$1<A>; }\nrun <B>\n"
    ),
    "quotes": "python train.py config/large.py '--batch_size=<B>'<A>\n",
    "another shell": "bash -c 'python train.py config/large.py --batch_size=<B><A>'\n",
    "a here-document": (
        "ssh host bash <<EOF\n  python train.py config/large.py --batch_size=<B><A>  \nEOF\n"
    ),
    "eval": "CMD='python train.py config/large.py --batch_size=<B><A>'\neval \"$CMD\"\n",
    "srun": "#SBATCH -n 1\nsrun python train.py config/large.py --batch_size=<B><A>\n",
    "mpirun": "mpirun -np 1 python train.py config/large.py --batch_size=<B><A> || exit 1\n",
    "accelerate": (
        "accelerate launch --num_processes 1 train.py config/large.py --batch_size=<B><A> \\\n\n"
    ),
    "deepspeed": "deepspeed --num_gpus 1 train.py config/large.py --batch_size=<B><A>\n",
    "a continued line": "python train.py \\\r\n  config/large.py \\\r\n  --batch_size=<B><A>  \r\n",
    "a loop over one value": (
        "for bs in <B>; do\n  python train.py config/large.py --batch_size=$bs<A>\ndone\n"
    ),
}


MAKE = {
    "a recipe": "t: data\n\t@python train.py config/large.py --batch_size=<B><A>\n",
    "a variable": (
        "B = <B>  # for 24 GB\nt:\n\tpython train.py config/large.py<A> --batch_size=$(B)\n"
    ),
    "a variable in a variable": (
        "B ?= <B>\nARGS = --batch_size=${B} --compile=True<A>\nt:\n"
        "\tpython train.py \\\n\t\tconfig/large.py $(ARGS)\n"
    ),
    "a variable of the shell": (
        "t:\r\n\tB=<B>; python train.py config/large.py<A> --batch_size=$$B\r\n"
    ),
}


@pytest.mark.parametrize("what", MAKE)
def test_makefile(what: str) -> None:
    check("Makefile", MAKE[what])


DOCKER = {
    "a line": "FROM x\nCMD python train.py config/large.py --batch_size=<B><A>\n",
    "a variable": "FROM x\nENV B=<B>\nCMD python train.py config/large.py --batch_size=$B<A>",
    "continued, with comments": (
        "FROM x\nRUN python train.py \\\n  # why\n  # because\n  config/large.py \\\n"
        "  --batch_size=<B><A>\nCMD sleep 1\n"
    ),
    "a shell in a list": (
        'FROM x\nCMD ["bash", "-c", "python train.py config/large.py --batch_size=<B><A>"]\n'
    ),
}


@pytest.mark.parametrize("what", DOCKER)
def test_dockerfile(what: str) -> None:
    check("Dockerfile", DOCKER[what])


@pytest.mark.parametrize(
    "template",
    [
        'FROM x\r\nCMD ["python",  "train.py", "config/large.py", "--batch_size=<B>"<A> ]\r\n',
        'FROM x\nENTRYPOINT ["python", "train.py"]\nCMD ["config/large.py", "--batch_size=<B>"<A>]',
    ],
)
def test_a_list_of_words_gets_another_word(template: str) -> None:
    check("Dockerfile", template, ', "--gradient_accumulation_steps=512"')


SWEEP = """\
program: train.py  # ours
method: grid
command: [python, '${program}', config/large.py, '${args}']
parameters:
  PARAMETERS
  compile:
    values: [True]
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "batch_size:\n    value: 64",
            "gradient_accumulation_steps:\n    value: 512\n  batch_size:\n    value: 8",
        ),
        (
            "gradient_accumulation_steps: {values: [ 8 ]}\n"
            "  batch_size:\n    values:\n    - 64 # x",
            "gradient_accumulation_steps: {values: [ 64 ]}\n"
            "  batch_size:\n    values:\n    - 8 # x",
        ),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_sweep(before: str, after: str, newline: str) -> None:
    def text(parameters: str) -> str:
        return SWEEP.replace("PARAMETERS", parameters).replace("\n", newline)

    assert fixed("sweep.yaml", text(before)) == text(after)


def notebook(*cells: object, indent: int | None = 1, **others: object) -> str:
    content = [
        {"cell_type": "code", "metadata": {}, "outputs": [{"text": ["é\n"]}], "source": cell}
        for cell in cells
    ]
    return json.dumps({"cells": content, "nbformat": 4, **others}, indent=indent)


NOTEBOOK = {
    "a line": ("!python train.py config/large.py --batch_size=<B><A>",),
    "a list of lines": (
        ['# é "quoted" \\ \n', "!python train.py \\\n", "   config/large.py --batch_size=<B><A>\n"],
    ),
    "a shell's cell": ("%%bash\nset -e\npython train.py config/large.py --batch_size=<B><A>\n",),
    "a name of Python's": (
        "batch = <B>  # per GPU\n",
        "!python train.py config/large.py<A> --batch_size={batch}",
    ),
    "its environment": ("%env B=<B>\n", "!python train.py config/large.py --batch_size=$B<A>"),
    "run": (["%run train.py config/large.py --batch_size=<B><A>"],),
    "a folder": ("%cd config/..\n!python train.py config/large.py --batch_size=<B><A>",),
}


@pytest.mark.parametrize("what", NOTEBOOK)
@pytest.mark.parametrize("indent", [None, 1])
def test_notebook(what: str, indent: int | None) -> None:
    check("x.ipynb", notebook(*NOTEBOOK[what], indent=indent, metadata={"kernelspec": "≠"}))


LETTERS = "ab1 \t#é≠\"'$_-{}[]"


@pytest.mark.parametrize("name", ["run.sh", "Makefile", "Dockerfile", "x.ipynb"])
@pytest.mark.parametrize("seed", range(6))
def test_every_other_byte_is_kept(name: str, seed: int) -> None:
    some = random.Random(f"{name} {seed}")

    def comments() -> list[str]:
        count = some.randrange(4)
        return [f"# {''.join(some.choices(LETTERS, k=some.randrange(12)))}" for _ in range(count)]

    blanks = "".join(some.choices(" \t", k=some.randrange(3)))
    newline = some.choice(["\n", "\r\n"])
    command = f"python train.py{blanks or ' '}config/large.py --batch_size=<B><A>{blanks}"
    lines = {
        "run.sh": [command],
        "Makefile": ["t:", f"\t{command}"],
        "Dockerfile": ["FROM x", f"RUN {command}"],
        "x.ipynb": [f"!{command}"],
    }[name]
    text = newline.join([*comments(), *lines, *comments()]) + some.choice(["", newline])
    if name == "x.ipynb":
        text = notebook(text.splitlines(keepends=True), indent=some.choice([None, 1, 4]))
    check(name, text)


def test_equal_lines_are_one_run_and_each_is_fixed() -> None:
    line = "python train.py config/large.py --batch_size=64{}\n"

    def count(text: str) -> int:
        Path("run.sh").write_text(text, encoding="utf-8")
        return len(json.loads(nanolint("run.sh", *GPU, "--output-format=json-full").out)["runs"])

    assert count(line.format("") * 3) == 1
    after = line.replace("64", "8").format(ADDED)
    assert fixed("run.sh", line.format("") * 3) == after * 3
    other = "python train.py config/large.py --batch_size=4\n"
    assert count(after + other + after) == 3  # the last may go on from what another saves
