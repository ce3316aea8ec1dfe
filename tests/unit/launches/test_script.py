"""Launch lines in shell scripts, which are never run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nanolint.launches.script import find_launches
from nanolint.launches.shell.expand import OWN_FOLDER

if TYPE_CHECKING:
    from nanolint.launches.launch import Found

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


def words(found: Found) -> str:
    """The script and what it is given, as it was followed; else why it was not."""
    if found.launch is None:
        return f"! {found.reason}"
    given = [f"{a.text}{'?' if a.unknown else ''}" for a in found.launch.arguments]
    return " ".join([found.launch.script.as_posix(), *given])


def runs(script: str) -> list[str]:
    return [words(found) for found in find_launches(script)]


def test_lines_variables_and_what_surrounds_a_command() -> None:
    first, second, third = find_launches(SCRIPT)
    assert words(third) == "sample.py --out_dir=out"
    assert (first.row, second.row) == (5, 10)
    assert words(first) == "train.py config/large.py --batch_size=32"
    assert first.launch is not None
    assert (first.launch.processes.count, first.launch.allocator) == (4, "expandable")
    assert words(second) == "train.py config/small.py --out_dir=$(date +%s)? --n_layer=2"
    assert second.launch is not None
    assert second.launch.folder == "here"
    (told,) = [a.unknown for a in second.launch.arguments if a.unknown]
    assert told == "$(date +%s) is known only at run time"


def test_a_word_is_found_in_the_text() -> None:
    script = "BS=4\npython train.py  c.py '--batch_size=64' --n_layer=$BS\n"
    (found,) = find_launches(script)
    assert found.launch is not None
    places = [argument.place for argument in found.launch.arguments]
    assert [script[p.start : p.end] for p in places if p] == [
        "c.py",
        "'--batch_size=64'",
        "--n_layer=$BS",
    ]


class TestVariables:
    def test_a_loop_over_a_variable_in_front_of_the_line_is_as_many_runs(self) -> None:
        found = find_launches("for b in 8 16 8; do BATCH=$b python train.py; done\n")
        given = [each.launch.environment["BATCH"].text for each in found if each.launch]
        assert given == ["8", "16"]

    def test_each_way_through_an_if_is_a_run(self) -> None:
        script = "BS=4\nif [ x ]; then BS=64; fi\npython train.py --batch_size=$BS\n"
        assert runs(script) == ["train.py --batch_size=64", "train.py --batch_size=4"]
        lines = script.replace("; ", "\n")
        assert runs(lines) == runs(script)

    def test_what_is_set_together_stays_together(self) -> None:
        script = (
            "if command -v nvidia-smi; then BS=4 GA=64; else BS=64 GA=4; fi\n"
            "python train.py --batch_size=$BS --gradient_accumulation_steps=$GA\n"
        )
        assert runs(script) == [
            "train.py --batch_size=4 --gradient_accumulation_steps=64",
            "train.py --batch_size=64 --gradient_accumulation_steps=4",
        ]

    def test_a_test_that_is_known_is_followed(self) -> None:
        script = 'N=2\nif [ "$N" -gt 1 ]; then BS=4; else BS=8; fi\npython train.py --b=$BS\n'
        assert runs(script) == ["train.py --b=4"]
        assert runs("X=a; [[ $X == b ]] && BS=1 || BS=2; python train.py --b=$BS") == [
            "train.py --b=2"
        ]

    def test_what_follows_exit_is_not_run(self) -> None:
        script = "if [ $1 ]; then BS=1; exit 1; fi\npython train.py --b=${BS:-2}\n"
        assert runs(script) == ["train.py --b=2"]
        assert runs("exit 0\npython train.py\n") == []

    def test_case(self) -> None:
        script = (
            'case "$1" in\n  big|large) BS=64 ;;\n  *) BS=4 ;;\nesac\npython train.py --b=$BS\n'
        )
        assert runs(script) == ["train.py --b=64", "train.py --b=4"]

    @pytest.mark.parametrize(
        "folder",
        [
            '$(dirname "$0")',
            "$(dirname -- ${BASH_SOURCE[0]})",
            '$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)',
            '$( cd -- "$( dirname -- "${BASH_SOURCE[0]}" )" &> /dev/null && pwd )',
        ],
    )
    def test_the_folder_of_the_script(self, folder: str) -> None:
        (found,) = find_launches(f'HERE="{folder}"\ncd "$HERE/.."\npython $HERE/train.py\n')
        assert found.launch is not None
        assert found.launch.script == Path(OWN_FOLDER) / "train.py"
        assert found.launch.folder == f"{OWN_FOLDER}/.."

    def test_arithmetic(self) -> None:
        assert runs("BS=8\npython train.py --ga=$((512 / BS)) --x=$(( (1+2)*$BS ))\n") == [
            "train.py --ga=64 --x=24"
        ]
        assert runs("python train.py --ga=$((512 / N))\n") == ["train.py --ga=$((512 / N))?"]

    def test_a_command_in_a_variable(self) -> None:
        script = 'RUN="torchrun --nproc_per_node=2 train.py"\n$RUN config/a.py\n'
        (found,) = find_launches(script)
        assert found.launch is not None
        assert found.launch.processes.count == 2
        assert words(found) == "train.py config/a.py"
        assert runs('eval "python train.py a.py"') == ["train.py a.py"]

    def test_arrays(self) -> None:
        script = 'ARGS=(--a=1 "--b=2")\nARGS+=(\n  --c=3  # more\n)\npython train.py "${ARGS[@]}"\n'
        assert runs(script) == ["train.py --a=1 --b=2 --c=3"]

    def test_what_is_not_set_is_not_known(self) -> None:
        assert runs("python train.py --b=$BS") == ["train.py --b=$BS?"]
        assert runs('X=$(echo "a b" | bc); python train.py --b=$X') == [
            'train.py --b=$(echo "a b" | bc)?'
        ]
        assert runs("read BS; python train.py --b=$BS") == ["train.py --b=$BS?"]
        assert runs("BS=4; while read x; do BS=$x; done; python train.py --b=$BS") == [
            "train.py --b=$BS?"
        ]
        assert runs("BS=4; (BS=8); python train.py --b=$BS") == ["train.py --b=4"]
        assert runs("python $SCRIPT --b=4") == [
            "! the script that it starts is unknown: $SCRIPT is known only at run time"
        ]

    def test_too_many_ways_are_not_known(self) -> None:
        many = "".join(f"{n}) BS={n} ;;\n" for n in range(40))
        (found,) = runs(f"case $1 in\n{many}esac\npython train.py --b=$BS")
        assert found == "train.py --b=$BS?"


class TestLoops:
    def test_each_value_is_a_run(self) -> None:
        script = (
            "for c in a b; do for n in {1..2}; do python train.py config/$c.py --n=$n; done; done"
        )
        assert runs(script) == [f"train.py config/{c}.py --n={n}" for c in "ab" for n in (1, 2)]

    def test_what_only_a_run_would_know(self) -> None:
        assert runs("for c in config/*.py; do python train.py $c; done\n") == ["train.py $c?"]
        assert runs("for i in $(seq 3); do python train.py --i=$i; done\n") == ["train.py --i=$i?"]
        assert runs("for ((i=0; i<3; i++)); do python train.py --i=$i; done\n") == [
            "train.py --i=$i?"
        ]

    def test_a_function_is_followed_where_it_is_called(self) -> None:
        script = (
            'run() {\n  local N=$1; shift\n  python train.py "$@" --n=$N\n}\nrun 3 a.py --b=4\n'
        )
        (found,) = find_launches(script)
        assert words(found) == "train.py a.py --b=4 --n=3"
        assert found.row == 3
        assert runs('run() { python train.py "$@"; }\n') == []


class TestShellsInShells:
    @pytest.mark.parametrize(
        "line",
        [
            "bash -c 'cd x && python train.py a.py --b=4'",
            'bash -lc "python train.py a.py --b=4"',
            "ssh host 'python train.py a.py --b=4'",
            "tmux new -d -s t 'python train.py a.py --b=4'",
            "docker run --gpus all image bash -c 'python train.py a.py --b=4'",
            "srun --ntasks=1 bash -c 'python train.py a.py --b=4'",
            "bash <<'END'\npython train.py a.py --b=4\nEND",
            "sbatch <<END\n#!/bin/bash\n#SBATCH --nodes=1\npython train.py a.py --b=4\nEND",
            "sbatch --wrap='python train.py a.py --b=4'",
            "sbatch --wrap 'python train.py a.py --b=4'",
        ],
    )
    def test_what_another_shell_runs(self, line: str) -> None:
        assert runs(line) == ["train.py a.py --b=4"]

    def test_the_tasks_of_srun_are_those_of_the_run(self) -> None:
        (found,) = find_launches("srun -n 4 bash -c 'python train.py a.py'")
        assert found.launch is not None
        assert found.launch.processes.count == 4

    def test_a_text_that_is_only_read_starts_nothing(self) -> None:
        assert runs("cat <<END\npython train.py a.py\nEND\n") == []
        assert runs("echo python train.py a.py\n") == []

    def test_a_config_that_the_script_writes(self) -> None:
        script = "cat > c.py <<END\nbatch_size = 4\nEND\npython train.py c.py\n"
        (found,) = find_launches(script)
        assert found.launch is not None
        assert found.launch.written == {"c.py"}


class TestSlurm:
    HEADER = (
        "#!/bin/bash\n#SBATCH --nodes=2  # two\n"
        "#SBATCH --ntasks-per-node 4\n#SBATCH --gres=gpu:a100:8\n\n"
    )

    @pytest.mark.parametrize(
        ("line", "count"),
        [
            ("srun python train.py", 8),
            ("srun -n 2 python train.py", 2),
            ("srun --ntasks-per-node=1 python train.py", 2),
            ("python train.py", 1),
            ("torchrun --nnodes=$SLURM_NNODES --nproc_per_node=$SLURM_GPUS_ON_NODE train.py", 16),
            ("torchrun --nproc_per_node=$SLURM_NTASKS_PER_NODE train.py", 4),
        ],
    )
    def test_headers_count(self, line: str, count: int) -> None:
        (found,) = find_launches(self.HEADER + line)
        assert found.launch is not None
        assert found.launch.processes.count == count

    def test_below_the_first_command_there_are_no_headers(self) -> None:
        (found,) = find_launches("set -e\n#SBATCH -n 4\nsrun python train.py\n")
        assert found.launch is not None
        assert found.launch.processes.count == 1


@pytest.mark.parametrize(
    "script",
    [
        "",
        "make all\n",
        "python -m torch.distributed.run\n",
        "pip install x.py",
    ],
)
def test_scripts_that_launch_nothing(script: str) -> None:
    assert list(find_launches(script)) == []


@pytest.mark.parametrize(
    ("script", "row", "reason"),
    [
        ("make\npython train.py 'a\n", 2, "a quote is never closed"),
        ("if true; then\npython train.py a.py\n", 3, "fi is missing"),
        ("cat <<END\ntext\n", 2, "a here-document is never ended by END"),
        ("x=1\n" * 20_000, 10_001, "it does too much to be read"),
    ],
)
def test_where_a_script_is_followed_no_further(script: str, row: int, reason: str) -> None:
    (found,) = find_launches(script)
    assert (found.row, found.reason) == (row, f"nanolint cannot read it from here on: {reason}")


@pytest.mark.parametrize(
    "script",
    [
        "a=xx\n" + "a=$a$a\n" * 60 + "python train.py $a.py\n",
        "`" * 200_001 + ".py",
        "a=${a-" * 30_000,
        "\\\n" * 100_000 + "a.py",
        "if x; then\n" * 20_000,
        "".join(f"if [ $a ]; then x{i}={i}; fi\n" for i in range(5_000)),
        "a{1,2}" * 30_000,
    ],
    ids=["variables that double", "quotes", "defaults", "continued lines", "ifs", "ways", "braces"],
)
def test_nothing_grows_without_end(script: str) -> None:
    for found in find_launches(script):
        assert found.launch is None or len(words(found)) < 2 * 4096
