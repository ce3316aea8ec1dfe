"""Who else takes values from a config, in whatever way people write that."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nanolint.files import door
from nanolint.run.takers import Taker, Takers, find_takers
from nanolint.run.takers.neighbours import MOST_BYTES
from tests.support import project_tree

if TYPE_CHECKING:
    from pathlib import Path

BASE = "batch_size = 16\ngradient_accumulation_steps = 32\n"

# What a file of that name may say to start from config/base.py.
PYTHON = {
    "with and open": ("config/small.py", "with open('config/base.py') as f:\n    exec(f.read())\n"),
    "one line": ("config/small.py", "with open('config/base.py') as f: exec(f.read())\n"),
    "pathlib": ("config/small.py", "exec(Path('config/base.py').read_text())\n"),
    "a path in parts": (
        "config/small.py",
        "exec(open(os.path.join(os.path.dirname(x), 'base.py')).read())\n",
    ),
    "an f-string": ("config/small.py", "exec(open(f'config/{name}.py').read())\n"),
    "a suffix": ("config/small.py", "exec(open('config/' + name + '.py').read())\n"),
    "a part of the name": ("config/small.py", "exec(open(f'config/ba{end}.py').read())\n"),
    "the text first": ("config/small.py", "src = open('config/base.py').read()\nexec(src)\n"),
    "assigned": ("config/small.py", "_ = exec(open('config/base.py').read())\n"),
    "io": ("config/small.py", "import io\nexec(io.open('config/base.py').read())\n"),
    "builtins": ("config/small.py", "import builtins\nbuiltins.exec(open('base.py').read())\n"),
    "a helper": ("lib/load.py", "def load(code):\n    exec(code)\n"),
    "a loop": ("config/small.py", "for n in ('base',): exec(open('config/%s.py' % n).read())\n"),
    "several lines": (
        "config/small.py",
        "exec(\n    open(\n        'config/base.py'\n    ).read()\n)\n",
    ),
    "behind a semicolon": ("config/small.py", "import os; from config.base import *\n"),
    "under if": ("config/small.py", "if 1: from config.base import *\n"),
    "under try": (
        "config/small.py",
        "try:\n    from config.base import *\nexcept Exception:\n    pass\n",
    ),
    "continued": ("config/small.py", "from config.base \\\n    import *\n"),
    "from the package": ("config/small.py", "from config import base\n"),
    "in brackets": ("config/small.py", "from config import (\n    base,\n)\n"),
    "relative": ("config/small.py", "from .base import *\n"),
    "a module": ("config/small.py", "import config.base\n"),
    "a module by another name": ("config/small.py", "import os, config.base as b\n"),
    "the search path": ("config/small.py", "sys.path.insert(0, 'config')\nimport base\n"),
    "importlib": ("config/small.py", "b = importlib.import_module('config.base')\n"),
    "importlib, relative": ("config/small.py", "b = import_module('.base', 'config')\n"),
    "importlib, of a value": ("config/small.py", "b = import_module('config.' + name)\n"),
    "__import__": ("config/small.py", "b = __import__('config.base', fromlist=['*'])\n"),
    "the package's own list": ("config/__init__.py", "__all__ = ['base']\n"),
    "runpy": ("config/small.py", "globals().update(runpy.run_path('config/base.py'))\n"),
    "runpy, a module": ("config/small.py", "globals().update(runpy.run_module('config.base'))\n"),
    "code in a string": ("config/small.py", "exec('from config.base import *')\n"),
    "its text searched": ("config/small.py", "n = re.search('8', open('config/base.py').read())\n"),
    "Windows": ("config/small.py", "exec(open('config\\\\base.py').read())\n"),
    "a folder below": ("config/sub/c.py", "from config.base import *\n"),
    "another folder": ("experiments/c.py", "exec(open('config/base.py').read())\n"),
    "a long file": ("config/small.py", "# x\n" * 20_000 + "exec(open('config/base.py').read())\n"),
    "too long a file": ("config/small.py", "# x\n" * (MOST_BYTES // 4 + 1)),
    "no Python": ("config/small.py", "exec open('config/base.py')\n"),
    "the training script": ("train.py", "exec(open('config/base.py').read())\n"),
}

SCRIPTS = {
    "an override": ("run.sh", "python train.py config/base.py --batch_size=4\n"),
    "evaluation": ("run.sh", "python train.py config/base.py --eval_only=True\n"),
    "several lines": ("run.sh", "python train.py \\\n  config/base.py \\\n  --batch_size=4\n"),
    "quoted": ("run.sh", 'python train.py "config/base.py" "--batch_size=4"\n'),
    "another config behind": ("run.sh", "python train.py config/base.py config/more.py\n"),
    "a variable for the name": (
        "run.sh",
        "for c in base; do python train.py config/$c.py --batch_size=4; done\n",
    ),
    "a variable for the options": (
        "run.sh",
        "A=--batch_size=4\npython train.py config/base.py $A\n",
    ),
    "an array": ("run.sh", 'A=(\n  --batch_size=4\n)\npython train.py config/base.py "${A[@]}"\n'),
    "a variable for the command": (
        "run.sh",
        'C="python train.py config/base.py"\n$C --batch_size=4\n',
    ),
    "a variable from outside": ("run.sh", "python train.py config/base.py $EXTRA\n"),
    "a name from outside": ("run.sh", "python train.py $1 --batch_size=4\n"),
    "a variable of files": (
        "run.sh",
        "for c in config/*.py; do python train.py $c --batch_size=4; done\n",
    ),
    "a module": ("run.sh", "python -m train config/$NAME.py --batch_size=4\n"),
    "a function": ("run.sh", 't() { python train.py "$@"; }\nt config/base.py --batch_size=4\n'),
    "Slurm": ("job.slurm", "#SBATCH -n 4\nsrun python train.py config/base.py --batch_size=4\n"),
    "another folder": (
        "scripts/run.sh",
        "cd .. && python train.py config/base.py --batch_size=4\n",
    ),
    "make": ("Makefile", "small:\n\tpython train.py config/base.py --batch_size=4\n"),
    "Docker": ("Dockerfile", 'CMD ["python", "train.py", "config/base.py", "--batch_size=4"]\n'),
    "Windows": ("run.bat", "python train.py config\\base.py ^\r\n  --batch_size=4\r\n"),
    "a notebook": (
        "a.ipynb",
        '{"source": [\n"!python train.py config/base.py \\\\\\n",\n"  --batch_size=4\\n"]}',
    ),
    "a sweep": (
        "sweep.yaml",
        "command:\n- python\n- train.py\n- config/base.py\n"
        "parameters:\n  batch_size:\n    values: [4]\n",
    ),
}

LINE = "python train.py config/base.py --gradient_accumulation_steps=8\n"
OVERRIDE = "--gradient_accumulation_steps=8"
# Each overrides one factor of the effective batch, wherever and however that is written.
ANYWHERE: dict[str, tuple[str, str | bytes]] = {
    "README": ("README.md", f"```sh\n{LINE}```\n"),
    "in a sentence": ("README.md", f"Then run `{LINE.strip()}`.\n"),
    "a quotation": ("README.md", f"> {LINE}"),
    "reStructuredText": ("docs/train.rst", f"Run::\n\n    {LINE}"),
    "its own comment": ("config/base.py", f"# {LINE}{BASE}"),
    "its own docstring": ("config/base.py", f'"""\ntorchrun {LINE[7:]}"""\n{BASE}'),
    "no suffix": ("bin/train", f"#!/bin/bash\n{LINE}"),
    "capitals": ("RUN.SH", LINE),
    "a hidden folder": (".scripts/run.sh", LINE),
    "UTF-16": ("run.ps1", LINE.encode("utf-16")),
    "Latin-1": ("run.fish", f"# caf\xe9\n{LINE}".encode("latin-1")),
    "HTCondor": ("job.sub", f"executable = /usr/bin/python\narguments = {LINE[7:]}"),
    "systemd": ("t.service", f"ExecStart=/usr/bin/{LINE}"),
    "an editor": (
        ".vscode/launch.json",
        '{"configurations": [ // x\n{"program": "train.py",\n"args": ["config/base.py",\n"'
        f'{OVERRIDE}"],}}]}}',
    ),
    "a table of runs": (
        "runs.json",
        '{"runs": [{"config": "config/more.py"},\n {"config": "config/base.py",\n'
        ' "overrides": {"gradient_accumulation_steps": 8}}]}',
    ),
    "two tables of one run": (
        "run.yaml",
        "experiment:\n  config: config/base.py\nargs:\n  gradient_accumulation_steps: 8\n",
    ),
    "the environment": (".env", f'ARGS="config/base.py {OVERRIDE}"\n'),
    "a second config": ("README.md", "`python train.py config/base.py config/more.py`\n"),
    "make, by its variables": (
        "Makefile",
        f"G ?= 8\nF = {OVERRIDE[:-1]}$(G)\nt:\n\tpython train.py config/base.py $(F)\n",
    ),
    "make, by a pattern": ("Makefile", f"t-%:\n\tpython train.py config/$*.py {OVERRIDE}\n"),
    "an argument": ("run.sh", f"python train.py config/$1.py {OVERRIDE}\n"),
    "xargs": ("run.sh", f"ls config/*.py | xargs -I{{}} python train.py {{}} {OVERRIDE}\n"),
    "parallel": ("run.sh", f"parallel python train.py {{}} {OVERRIDE} ::: config/*.py\n"),
    "eval": ("run.sh", f'C="python train.py config/base.py"\nC="$C {OVERRIDE}"\neval $C\n'),
    "arguments in a file": ("run.sh", "python train.py config/base.py $(cat args)\n"),
    "whatever it is given": ("run.sh", f'python train.py "$@" {OVERRIDE}\n'),
    "an f-string": ("tools/a.py", f"os.system(f'python train.py config/{{n}}.py {OVERRIDE}')\n"),
    "a list": (
        "tools/a.py",
        "def f(c):\n    cmd = [\n        sys.executable, 'train.py',\n        c,\n    ]\n"
        f"    cmd += ['{OVERRIDE}']\n    run(cmd)\n",
    ),
    "a list with others": ("tools/a.py", "run(['python', 'train.py', f'{c}.py'] + more)\n"),
}

HARMLESS = {
    "both factors": (
        "README.md",
        "python train.py config/base.py --batch_size=4 --gradient_accumulation_steps=128\n",
    ),
    "flags of no factor": (
        "Makefile",
        "F = --compile=False\nt:\n\tpython train.py config/base.py $(F)\n",
    ),
    "any config": ("run.sh", "for c in config/*.py; do python train.py $c; done\n"),
    "a pattern of other configs": ("run.sh", f"python train.py config/train_$1.py {OVERRIDE}\n"),
    "a variable of another config": (
        "run.sh",
        f"C=config/more.py\nE=base\npython train.py $C {OVERRIDE}\n",
    ),
    "what git ignores": ("mine/run.sh", LINE),
    "a virtual environment": ("env/README.md", LINE),
    "two runs of a workflow": (
        ".github/workflows/a.yml",
        "jobs:\n a:\n  steps:\n  - run: python train.py config/base.py\n"
        "  - run: python train.py config/more.py --batch_size=4\n",
    ),
    "a copy": ("run.sh", "cat config/base.py more.txt > config/new.py\n"),
    "another config before": ("run.sh", "python -m train config/more.py config/base.py\n"),
    "an override before": (
        "run.sh",
        "python train.py --gradient_accumulation_steps=8 config/base.py\n",
    ),
    "prose": ("README.md", "config/base.py trains with batch_size = 16 and --batch_size.\n"),
    "a program that starts it": (
        "sweep.py",
        "import subprocess\nsubprocess.run(['python', 'train.py', 'config/base.py'])\n",
    ),
    "prose of data": ("data/shakespeare/readme.md", "config/base.py --batch_size=4\n"),
    "a comment": ("config/small.py", "# like config/base.py, exec(open('config/base.py'))\n"),
    "a docstring": ("config/small.py", '"""As config/base.py: import base."""\nbatch_size = 4\n'),
    "a name that says base": ("config/small.py", "out_dir = 'out-base'\nwandb_run_name = 'base'\n"),
    "a longer name": ("config/small.py", "exec(open('config/database.py').read())\n"),
    "another base": ("config/small.py", "exec(open('other/base.py').read())\n"),
    "another module": ("run_all.py", "import base\n"),
    "a program that is told what to execute": (
        "go.py",
        "import sys\nexec(open(sys.argv[1]).read())\n",
    ),
    "a test": ("tests/test_all.py", "exec(open(path).read())\n"),
    "the configurator": ("bench.py", "exec(open('configurator.py').read())\n"),
    "a suffix that is asked for": (
        "lint.py",
        "import subprocess\nif p.endswith('.py'): check(p)\n",
    ),
    "another config's launch": ("run.sh", "python train.py config/more.py --batch_size=4\n"),
    "a program that takes no configs": ("run.sh", "N=4\npython eval.py $NAME --batch_size=4\n"),
    "a module that takes no configs": ("run.sh", "python -m pack.eval $1 --batch_size=4\n"),
    "what is only set": ("run.sh", "python train.py --batch_size=$1 --out_dir=$OUT\n"),
    "another config's options": ("run.sh", "A=--batch_size=4\npython train.py config/more.py $A\n"),
    "the values of options": ("run.sh", "python train.py config/base.py --note $N -x $M\n"),
    "the script alone": ("run.sh", "python train.py --batch_size=4\n"),
    "other keys": ("run.sh", "python train.py config/base.py --n_layer=6 --out_dir=$OUT\n"),
    "what is passed on": (
        "run.sh",
        'cd $HOME && python train.py config/base.py "$@" > $LOG 2>&1\n',
    ),
    "a launcher's variables": ("run.sh", "N=8\n$RUN --nproc_per_node=$N train.py config/base.py\n"),
    "a comment in a script": ("run.sh", "# python train.py config/base.py --batch_size=4\n"),
    "an environment's own": (".venv/lib/x.py", "exec(code)\n"),
    "a run that was kept": ("wandb/run-1/files/code/small.py", "from config.base import *\n"),
    "a picture": ("a.ipynb", '{"image": "' + "x" * 100_000 + '.py --batch_size"}'),
}


CHANGED: dict[str, object] = {"batch_size": 8, "gradient_accumulation_steps": 64}
VALUES = {"batch_size": 16, "gradient_accumulation_steps": 32, "eval_iters": 200}


def changed(found: Takers) -> list[Taker]:
    """Who trains otherwise after a fix that keeps the effective batch of the config."""
    return found.changed(CHANGED, VALUES)


def takers(root: Path, name: str, text: str | bytes) -> Takers:
    """Who takes values from config/base.py, beside one more file."""
    files = {
        "config/base.py": BASE,
        "config/more.py": "gradient_accumulation_steps = 8\n",
        "base.py": "",
        "other/base.py": "",
        ".gitignore": "mine/\n",
        "env/pyvenv.cfg": "",
        name: text if isinstance(text, str) else "",
    }
    project_tree.write_project(root, files)
    if isinstance(text, bytes):
        (root / name).write_bytes(text)
        text = ""
    if "sys.path" in text:
        (root / "base.py").unlink()
    return find_takers(root / "config" / "base.py", root / "train.py")


@pytest.mark.parametrize("case", PYTHON)
def test_a_file_that_starts_from_the_config_is_found(case: str, tmp_path: Path) -> None:
    name, text = PYTHON[case]
    found = takers(tmp_path, name, text).others
    assert [each.place.rpartition(":")[0] or each.place for each in found] == [name], found


@pytest.mark.parametrize("case", SCRIPTS)
def test_a_line_that_launches_the_config_as_another_run_is_found(case: str, tmp_path: Path) -> None:
    name, text = SCRIPTS[case]
    found = changed(takers(tmp_path, name, text))
    assert found and {each.place.partition(":")[0] for each in found} == {name}


@pytest.mark.parametrize("case", ANYWHERE)
def test_a_command_counts_wherever_it_is_written(case: str, tmp_path: Path) -> None:
    found = changed(takers(tmp_path, *ANYWHERE[case]))
    assert [each.place.partition(":")[0] for each in found] == [ANYWHERE[case][0]]


@pytest.mark.parametrize("case", HARMLESS)
def test_what_takes_nothing_does_not_count(case: str, tmp_path: Path) -> None:
    assert changed(takers(tmp_path, *HARMLESS[case])) == []


def test_lines_are_named(tmp_path: Path) -> None:
    found = takers(tmp_path, "config/small.py", "import os\n\nfrom config.base import *\n")
    assert [each.place for each in found.others] == ["config/small.py:3"]
    (tmp_path / "config" / "small.py").unlink()
    found = takers(tmp_path, "run.sh", "cd x\npython train.py \\\n config/base.py --batch_size=4\n")
    assert [each.place for each in changed(found)] == ["run.sh:2"]


def test_launches_on_several_processes_are_counted(tmp_path: Path) -> None:
    def sizes(line: str) -> list[int | None]:
        return [each.world_size for each in takers(tmp_path, "run.sh", line).shared]

    assert sizes("torchrun --nproc_per_node=8 train.py config/base.py\n") == [8]
    assert sizes("torchrun --nnodes=2 --nproc-per-node 4 train.py config/base.py\n") == [8]
    assert sizes("torchrun --nproc_per_node=$N train.py config/base.py\n") == [None]
    assert sizes("srun python train.py config/base.py\n") == [None]
    assert sizes("torchrun --nproc_per_node=8 train.py config/more.py\n") == []
    assert sizes("python train.py config/base.py\n") == []


def test_the_folder_around_config_is_searched_where_there_is_no_project(tmp_path: Path) -> None:
    for name, text in {"config/a.py": BASE, "lib.py": "from config.a import *\n"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (found,) = find_takers(tmp_path / "config" / "a.py", None).others
    assert found.place == "lib.py:1"


def test_the_whole_repository_may_name_the_config_of_a_project_in_it(tmp_path: Path) -> None:
    project_tree.write_project(
        tmp_path,
        {
            "gpt/train.py": project_tree.train_script(),
            "gpt/config/base.py": BASE,
            "plugins.py": "importlib.import_module(name)\n",  # of another project
            "runs/all.py": "exec(open('../gpt/config/base.py').read())\n",
        },
    )
    found = find_takers(tmp_path / "gpt" / "config" / "base.py", tmp_path / "gpt" / "train.py")
    assert [each.place for each in found.others] == ["runs/all.py:1"]


def test_what_has_no_name_has_no_takers() -> None:
    assert find_takers(None, None) == Takers()


def test_a_script_that_was_named_counts_wherever_it_lies(tmp_path: Path) -> None:
    root, script = tmp_path / "project", tmp_path / "run.sh"
    project_tree.write_project(root, {"config/base.py": BASE})
    script.write_text("cd project\npython train.py config/base.py --batch_size=4\n")
    (found,) = changed(find_takers(root / "config" / "base.py", root / "train.py", [script]))
    assert found.place.endswith("run.sh:2")


def test_without_a_project_only_what_lies_beside_is_searched(tmp_path: Path) -> None:
    (tmp_path / "deep" / "deeper").mkdir(parents=True)
    (tmp_path / "a.py").write_text(BASE)
    (tmp_path / "deep" / "b.py").write_text("exec(open('../a.py').read())\n")
    assert changed(find_takers(tmp_path / "a.py", None)) == []
    (tmp_path / "b.py").write_text("exec(open('a.py').read())\n")
    door.forget()
    assert [each.place for each in find_takers(tmp_path / "a.py", None).others] == ["b.py:1"]


def test_an_open_command_counts_if_the_repository_has_its_script(tmp_path: Path) -> None:
    line = "python start.py config/$1.py --batch_size=4\n"
    files = {"config/a.py": BASE, "docs/how.md": line, "tests/run.sh": line}
    project_tree.write_project(tmp_path, files)
    config = tmp_path / "config" / "a.py"
    assert changed(find_takers(config, None)) == []
    (tmp_path / "start.py").write_text("")
    door.forget()
    assert [each.place for each in changed(find_takers(config, None))] == ["docs/how.md:1"]
