"""``nanolint launch``, and shell scripts among the files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.command import nanolint
from tests.support.project_tree import write_project

CONFIG = "config/large.py"
LARGE = "batch_size = 8\ngradient_accumulation_steps = 64\ndtype = 'bfloat16'\n"
WITHOUT_DASHES = """\
import sys
for word in sys.argv[1:]:
    if '=' not in word:
        exec(open(word).read())
        continue
    key, value = word.split('=')
    globals()[key] = eval(value)
"""
OOM = {"NL101", "NL102"}
GPU, JSON = "--gpu=rtx-3060-12gb", "--output-format=json"


@pytest.fixture(autouse=True)
def project() -> None:
    write_project(Path(), {CONFIG: LARGE})


def launched(line: str, *options: str) -> set[str]:
    """The codes of what is found in the run that ``line`` starts."""
    outcome = nanolint("launch", GPU, JSON, *options, "--", *line.split())
    return {finding["code"] for finding in json.loads(outcome.out)}


class TestLaunch:
    def test_overrides_count(self) -> None:
        assert not launched(f"python train.py {CONFIG}") & {"NL101", "NL102"}
        assert launched(f"python train.py {CONFIG} --batch_size=32") & {"NL101", "NL102"}

    def test_the_world_size_counts(self) -> None:
        assert "NL304" not in launched(f"torchrun --nproc_per_node=8 train.py {CONFIG}")
        assert "NL304" in launched(f"torchrun --nproc_per_node=3 train.py {CONFIG}")
        assert "NL304" not in launched(
            f"torchrun --nproc_per_node=3 train.py {CONFIG}", "--world-size=2"
        )

    @pytest.mark.parametrize("command", ["check", "explain", "fit"])
    def test_a_key_that_the_script_does_not_have_is_refused(self, command: str) -> None:
        outcome = nanolint(command, GPU, "--", "train.py", CONFIG, "--batchsize=4")
        assert outcome.status == 2
        assert "no key batchsize; did you mean batch_size?" in outcome.err

    @pytest.mark.parametrize("command", ["check", "explain", "fit"])
    def test_a_configurator_without_dashes_sets_no_key_with_them(self, command: str) -> None:
        Path("configurator.py").write_text(WITHOUT_DASHES)
        line = ["train.py", CONFIG, "--batch_size=4"]
        outcome = nanolint(command, GPU, "--", *line)
        assert outcome.status == 2
        assert "the configurator takes batch_size=VALUE" in outcome.err
        assert nanolint(command, GPU, "--", *line[:2]).status != 2
        assert nanolint(command, GPU, "--", *line[:2], "batch_size=4").status != 2

    def test_words_without_dashes_are_taken_where_the_configurator_takes_them(self) -> None:
        line = f"python train.py {CONFIG} batch_size=16"
        assert nanolint("launch", GPU, "--", *line.split()).status == 2  # nanoGPT's takes none
        Path("configurator.py").write_text(WITHOUT_DASHES)
        outcome = nanolint("explain", GPU, "--format=json", "--", *line.split())
        assert json.loads(outcome.out)["run"]["batch_size"] == 16

    @pytest.mark.parametrize("processes", ["4", "8", "16"])
    def test_a_node_is_used_in_part_whole_or_several_times(self, processes: str) -> None:
        line = f"torchrun --nproc_per_node={processes} train.py {CONFIG}"
        outcome = nanolint("launch", "--gpu=8xA100-80GB", "--", *line.split())
        assert outcome.status in (0, 1)

    def test_a_line_as_one_word(self) -> None:
        outcome = nanolint("launch", GPU, "--", f"torchrun --nproc_per_node=3 train.py {CONFIG}")
        assert "NL304" in outcome.out

    def test_without_a_config_train_py_itself_is_judged(self) -> None:
        outcome = nanolint("launch", GPU, JSON, "--", "python", "train.py", "--batch_size=64")
        findings = json.loads(outcome.out)
        assert {each["filename"] for each in findings} == {"<launch line>", "train.py"}
        assert {each["code"] for each in findings if each["filename"] != "train.py"} <= OOM

    @pytest.mark.parametrize(
        ("line", "reason"),
        [
            (f"python /cluster/train.py {CONFIG}", "/cluster/train.py: no such file"),
            (f"python other.py {CONFIG}", "other.py: no such file"),
            (f"python -m lab.train {CONFIG}", "no module lab.train"),
            ("python train.py config/", "config: is a folder, not a config"),
            ("python train.py config/gone.py", "config/gone.py: no such file"),
            ("python train.py --compile", "nanoGPT needs a value: --compile=VALUE"),
            ("python tr\x1b[31main.py", "tr␛[31main.py: no such file"),
        ],
    )
    def test_what_the_line_names_must_be_there(self, line: str, reason: str) -> None:
        outcome = nanolint("launch", GPU, "--", *line.split())
        assert (outcome.status, outcome.error) == (2, f"nanolint: {reason}")

    def test_a_module(self) -> None:
        Path("lab").mkdir()
        Path("train.py").rename("lab/train.py")
        Path("configurator.py").rename("lab/configurator.py")
        line = f"torchrun --nproc_per_node=3 -m lab.train {CONFIG}"
        assert "NL304" in launched(line)

    @pytest.mark.parametrize("arguments", [(), ("--",), ("torchrun", "train.py"), ("a", "--", "b")])
    def test_without_two_dashes(self, arguments: tuple[str, ...]) -> None:
        outcome = nanolint("launch", *arguments)
        assert outcome.status == 2
        assert outcome.error.startswith("nanolint: put the launch line after --")

    @pytest.mark.parametrize("line", ["make train", "python train.py 'x"])
    def test_what_is_no_launch_line(self, line: str) -> None:
        outcome = nanolint("launch", "--", line)
        assert outcome.status == 2
        assert outcome.error.startswith("nanolint: after --: ")


class TestOneRun:
    """What stands on one line is one run, read from left to right."""

    @pytest.fixture(autouse=True)
    def configs(self) -> None:
        Path("config/big.py").write_text("batch_size = 64\ngradient_accumulation_steps = 8\n")
        Path("config/small.py").write_text("batch_size = 4\n")

    def test_the_last_config_counts(self) -> None:
        assert not launched("python train.py config/big.py config/small.py") & OOM
        line = "python train.py config/big.py config/small.py"
        outcome = nanolint("launch", GPU, "--", line)
        assert outcome.out.endswith("No findings in 2 files.\n")
        assert "config/small.py: fits " in outcome.out
        assert launched("python train.py config/small.py config/big.py") & OOM

    def test_a_finding_stands_in_the_config_that_decides(self) -> None:
        line = ["python", "train.py", "config/small.py", "config/big.py"]
        findings = json.loads(nanolint("launch", GPU, JSON, "--select=NL1", "--", *line).out)
        assert [finding["filename"] for finding in findings] == ["config/big.py"]
        line = ["python", "train.py", "config/big.py", "config/high.py"]
        Path("config/high.py").write_text("min_lr = 1.0\n")
        findings = json.loads(nanolint("launch", GPU, JSON, "--select=NL1,NL310", "--", *line).out)
        assert {(each["code"], each["filename"]) for each in findings} == {
            ("NL102", "config/big.py"),
            ("NL310", "config/high.py"),
        }

    def test_no_config_is_fixed_for_a_value_that_another_one_decides(self) -> None:
        Path("config/micro.py").write_text("batch_size = 64\n")
        Path("config/steps.py").write_text("gradient_accumulation_steps = 8\n")
        before = {path: path.read_bytes() for path in Path("config").iterdir()}
        for line in (
            "python train.py config/steps.py config/micro.py",
            "python train.py config/micro.py config/steps.py",
        ):
            outcome = nanolint("launch", GPU, "--select=NL101", "--fix", "--", *line.split())
            assert outcome.status == 1
            assert "help: --batch_size=8 --gradient_accumulation_steps=64 fits" in outcome.out
        assert {path: path.read_bytes() for path in Path("config").iterdir()} == before

    def test_overrides_count_where_they_stand(self) -> None:
        assert not launched("python train.py --batch_size=64 config/small.py") & OOM
        assert launched("python train.py --batch_size=4 config/big.py") & OOM
        assert not launched("python train.py config/big.py --batch_size=4") & OOM
        assert launched("python train.py config/big.py --batch_size=4 config/big.py") & OOM

    def test_a_config_reads_what_was_set_before_it(self) -> None:
        Path("config/half.py").write_text("batch_size = batch_size // 16\n")
        assert not launched("python train.py config/big.py config/half.py") & OOM
        Path("config/half.py").write_text("batch_size = block_size // 16\n")
        assert launched("python train.py config/big.py config/half.py") & OOM
        assert not launched("python train.py --block_size=64 config/half.py") & OOM

    @pytest.mark.parametrize("command", ["check", "explain", "fit"])
    def test_behind_two_dashes(self, command: str) -> None:
        big = ["config/small.py", "config/big.py"]
        small = ["config/big.py", "config/small.py"]
        results = [nanolint(command, GPU, "--", *line) for line in (big, small)]
        if command == "check":
            assert [result.status for result in results] == [1, 0]
            assert (
                nanolint(GPU, "--select=NL1", "config/big.py", "--", "config/small.py").status == 0
            )
        else:
            assert results[0].out != results[1].out
            alone = nanolint(
                command, GPU, "config/small.py", "--", "--gradient_accumulation_steps=8"
            )
            if command == "fit":
                assert results[1].out == alone.out

    def test_a_config_that_cannot_be_read_leaves_nothing_known(self) -> None:
        Path("config/broken.py").write_text("batch_size = (\n")
        for first, last in (("small", "broken"), ("broken", "small")):
            line = f"python train.py config/{first}.py config/{last}.py"
            outcome = nanolint("launch", GPU, "--", line)
            assert outcome.status == 1
            assert "NL001" in outcome.out
            assert "1 run not checked" in outcome.out or "No run was checked" in outcome.out
        assert "broken.py cannot be read" in outcome.out


class TestFlags:
    """A finding about a value of the launch line stands on the flag there."""

    def test_in_a_shell_script(self) -> None:
        Path("run.sh").write_text(
            f"for c in {CONFIG}; do\n  python train.py $c --compile=True '--batch_size=64'\ndone\n"
        )
        outcome = nanolint("run.sh", GPU, "--select=NL1")
        assert "--> run.sh:2:37" in outcome.out
        assert "note: the run of config/large.py" in outcome.out
        assert "Found 1 error in 2 files." in outcome.out

    def test_behind_launch(self) -> None:
        line = f"python train.py {CONFIG} --batch_size=64"
        (finding,) = json.loads(nanolint("launch", GPU, JSON, "--select=NL1", "--", line).out)
        assert finding["filename"] == "<launch line>"
        assert line[finding["location"]["column"] - 1 :] == "--batch_size=64"

    def test_what_the_file_decides_stays_there(self) -> None:
        Path("config/big.py").write_text("batch_size = 64\n")
        Path("run.sh").write_text("python train.py config/big.py --gradient_accumulation_steps=8\n")
        (finding,) = json.loads(nanolint("run.sh", GPU, JSON, "--select=NL1").out)
        assert finding["filename"] == "config/big.py"

    def test_a_comment_in_the_file_does_not_silence_the_flag(self) -> None:
        Path(CONFIG).write_text("batch_size = 4  # nanolint: ignore[NL1]\n")
        assert launched(f"python train.py {CONFIG} --batch_size=64") & OOM

    def test_with_several_configs_it_is_told_once(self) -> None:
        Path("config/small.py").write_text("batch_size = 4\n")
        line = f"python train.py {CONFIG} --batch_size=64 config/none.py"
        Path("config/none.py").write_text("n_layer = 12\n")
        (finding,) = json.loads(nanolint("launch", GPU, JSON, "--select=NL1", "--", line).out)
        assert finding["filename"] == "<launch line>"


class TestFixedFlags:
    """``--fix`` rewrites the flags of a shell script, and nothing else in it."""

    HEAD = "#!/bin/bash\n# 64 is too much\nexport X=1\n"

    def fix(self, text: str, *options: str) -> tuple[str, int]:
        Path("run.sh").write_bytes(text.encode())
        config = Path(CONFIG).read_bytes()
        outcome = nanolint("run.sh", GPU, "--select=NL1", "--fix", *options)
        assert Path(CONFIG).read_bytes() == config
        return Path("run.sh").read_bytes().decode(), outcome.status

    def test_two_flags(self) -> None:
        line = f"python train.py {CONFIG} --batch_size={{}} --gradient_accumulation_steps={{}}"
        text = f"{self.HEAD}{line}  --eval_iters=9 # why\r\n"
        assert self.fix(text.format(64, 8)) == (text.format(8, 64), 0)
        assert self.fix(text.format(8, 64)) == (text.format(8, 64), 0)

    def test_a_flag_and_a_value_of_the_config(self) -> None:
        text = f"python train.py {CONFIG} --batch_size=32 | tee log\n"
        flags = "--batch_size=8 --gradient_accumulation_steps=256"
        assert self.fix(text) == (text.replace("--batch_size=32", flags), 0)

    def test_where_the_config_would_win_the_flag_stands_behind_it(self) -> None:
        Path("config/steps.py").write_text("gradient_accumulation_steps = 8\n")
        text = "python train.py --batch_size={} config/steps.py{}\n"
        fixed = text.format(8, " --gradient_accumulation_steps=64")
        assert self.fix(text.format(64, "")) == (fixed, 0)

    @pytest.mark.parametrize(
        "text",
        [
            f"for bs in 4 64; do python train.py {CONFIG} --batch_size=$bs; done\n",
            f"N=32\npython train.py {CONFIG} --batch_size=$((N * 2))\n",
        ],
    )
    def test_what_is_not_written_there_is_only_told(self, text: str) -> None:
        assert self.fix(text) == (text, 1)

    def test_every_run_of_the_line_keeps_its_batch(self) -> None:
        Path("config/odd.py").write_text("gradient_accumulation_steps = 7\n")
        text = f"for c in {CONFIG} config/odd.py; do python train.py $c --batch_size=64; done\n"
        assert self.fix(text) == (text, 1)
        outcome = nanolint("run.sh", GPU, "--select=NL1")
        assert "fixable" not in outcome.out
        assert "not fixed: the fix would change the effective batch of run" in outcome.out

    def test_it_is_shown_before(self) -> None:
        text = f"python train.py {CONFIG} --batch_size=32\n"
        Path("run.sh").write_text(text)
        assert "1 fixable with --fix." in nanolint("run.sh", GPU, "--select=NL1").out
        diff = nanolint("run.sh", GPU, "--select=NL1", "--diff").out
        assert f"+python train.py {CONFIG} --batch_size=8 --gradient_accumulation_steps=256" in diff
        assert Path("run.sh").read_text() == text
        assert "fixable" not in nanolint("launch", GPU, "--select=NL1", "--", text).out


class TestSilencedFlags:
    LINE = f"python train.py {CONFIG} --compile=True \\\n  --batch_size=64"

    @pytest.mark.parametrize(
        ("text", "silent"),
        [
            (f"{LINE} # nanolint: ignore[NL1] measured\n", False),
            (f"{LINE} # nanolint: ignore[NL102] measured\n", True),
            (f"{LINE} # nanolint: ignore[oversized-logits]\n", True),
            (f"{LINE} # nanolint: ignore\n", True),
            (f"# nanolint: ignore[NL102]\n{LINE}\n", True),
            (f"#!/bin/bash\n# nanolint: ignore-file[NL102]\n{LINE}\n", True),
            (f"# nanolint: ignore[NL102]\necho\n{LINE}\n", False),
            (f"{LINE} --eval_iters=2\necho # nanolint: ignore[NL102]\n", False),
            (f"{LINE} # nanolint: ignore[NL304]\n", False),
        ],
    )
    def test_a_comment_in_the_script_silences_the_flag(self, text: str, silent: bool) -> None:
        Path("run.sh").write_text(text)
        outcome = nanolint("run.sh", GPU, "--select=NL1")
        assert ("NL102" not in outcome.out) is silent
        fixed = nanolint("run.sh", GPU, "--select=NL1", "--fix")
        assert ("Fixed run.sh" not in fixed.out) is silent
        assert (Path("run.sh").read_text() == text) is silent


class TestProcesses:
    def test_what_is_not_known_is_said_and_doubted(self) -> None:
        line = f"launchpad -n 8 python train.py {CONFIG} --batch_size=64"
        outcome = nanolint("launch", GPU, "--select=NL1", "--", *line.split())
        assert outcome.err.startswith(
            "nanolint: the number of processes is unknown: the command that launchpad starts is "
            "unknown"
        )
        assert "assuming world size 1" in outcome.out
        assert outcome.status == 1
        known = nanolint("launch", GPU, "--select=NL1", "--world-size=1", "--", *line.split())
        assert "assuming" not in known.out

    @pytest.mark.parametrize(
        ("launcher", "doubted"),
        [
            ("torchrun --nproc_per_node=gpu train.py", False),
            ("torchrun --nproc_per_node=auto --nnodes=1 train.py", False),
            ("deepspeed train.py", False),
            ("torchrun --nproc_per_node=gpu --nnodes=2 train.py", True),
            ("deepspeed --hostfile h train.py", True),
            ("accelerate launch train.py", True),
        ],
    )
    def test_every_card_of_a_machine_that_is_known(self, launcher: str, doubted: bool) -> None:
        line = f"{launcher} {CONFIG} --batch_size=1024"
        outcome = nanolint("launch", "--gpu=8xA100-80GB", "--select=NL1", "--", *line.split())
        assert ("assuming world size 8" in outcome.out) is doubted
        assert "NL10" in outcome.out

    @pytest.mark.parametrize(
        "launcher",
        [
            "accelerate launch --num_processes 3 train.py",
            "deepspeed --num_gpus=3 train.py",
            "mpirun -np 3 python train.py",
            "python -mtorch.distributed.run --nproc_per_node=3 train.py",
        ],
    )
    def test_launchers_are_counted(self, launcher: str) -> None:
        assert "NL304" in launched(f"{launcher} {CONFIG}")


class TestShellScripts:
    def test_each_line_is_a_run(self) -> None:
        Path("jobs").mkdir()
        Path("jobs/run.sh").write_text(
            f"python train.py {CONFIG}\ntorchrun --nproc_per_node=3 train.py {CONFIG}\n"
        )
        outcome = nanolint("jobs/run.sh", GPU, "--select=NL304")
        assert outcome.status == 1
        assert outcome.out.count("[NL304]") == 1
        assert "note: as launched in jobs/run.sh:2" in outcome.out

    def test_paths_relative_to_the_repository(self, monkeypatch: pytest.MonkeyPatch) -> None:
        Path("jobs").mkdir()
        Path("jobs/run.sh").write_text(f"torchrun --nproc_per_node=3 train.py {CONFIG}\n")
        monkeypatch.chdir("jobs")
        (finding,) = json.loads(nanolint("run.sh", GPU, "--select=NL304", JSON).out)
        assert Path(finding["filename"]).samefile(f"../{CONFIG}")

    def test_a_script_without_launches(self) -> None:
        Path("run.sh").write_text("make all\n")
        outcome = nanolint("run.sh", GPU)
        assert outcome.status == 0
        assert "No run in run.sh: no line starts a training script" in outcome.out

    def test_a_script_that_is_not_there(self) -> None:
        assert nanolint("gone.sh").status == 2

    def test_the_header_of_a_batch_script_counts(self) -> None:
        Path("run.sh").write_text(
            "#!/bin/bash\n#SBATCH --nodes=1\n#SBATCH --ntasks-per-node=3\n"
            f"srun python train.py {CONFIG}\n"
        )
        assert "NL304" in nanolint("run.sh", GPU).out

    def test_each_value_of_a_variable_is_a_run(self) -> None:
        Path("run.sh").write_text(
            f"BS=4\nif [ x ]; then BS=64; fi\npython train.py {CONFIG} --batch_size=$BS\n"
        )
        outcome = nanolint("run.sh", GPU, "--select=NL1")
        assert outcome.status == 1
        assert "--> run.sh:3:33" in outcome.out
        assert outcome.out.count("NL102") == 1

    def test_what_cannot_be_followed_is_said(self) -> None:
        Path("run.sh").write_text(
            "python sample.py\nfor c in config/*.py; do python train.py $c; done\n"
            "python other_train.py config/x.py\npython train.py 'a\n"
        )
        outcome = nanolint("run.sh", GPU)
        assert outcome.err.splitlines() == [
            "nanolint: run.sh:2: not checked: $c is known only at run time",
            "nanolint: run.sh:3: not checked: other_train.py: no such file",
            "nanolint: run.sh:4: not checked: nanolint cannot read it from here on: a quote is "
            "never closed",
        ]

    def test_overlays_in_a_script_are_one_run(self) -> None:
        Path("config/big.py").write_text("batch_size = 64\ngradient_accumulation_steps = 8\n")
        Path("config/small.py").write_text("batch_size = 4\n")
        Path("run.sh").write_text("python train.py config/big.py config/small.py\n")
        before = Path("config/big.py").read_bytes()
        assert nanolint("run.sh", GPU, "--select=NL1", "--fix").status == 0
        assert Path("config/big.py").read_bytes() == before


class TestOtherFiles:
    LINE = f"torchrun --nproc_per_node=3 train.py {CONFIG}"

    @pytest.mark.parametrize(
        ("name", "text", "place"),
        [
            ("run.slurm", f"#!/bin/bash\n{LINE}\n", "run.slurm:2"),
            ("Makefile", f"train:\n\t{LINE}\n", "Makefile:2"),
            ("Dockerfile", f"FROM x\nCMD {LINE}\n", "Dockerfile:2"),
            (
                "lab.ipynb",
                json.dumps({"cells": [{"cell_type": "code", "source": f"import os\n!{LINE}"}]}),
                "lab.ipynb:cell 1:2",
            ),
            (
                "sweep.yaml",
                f"command: [{', '.join(LINE.split())}]\nparameters: {{seed: {{value: 1}}}}\n",
                "sweep.yaml:2",
            ),
        ],
    )
    def test_each_launch_is_judged(self, name: str, text: str, place: str) -> None:
        Path(name).write_text(text)
        outcome = nanolint(name, GPU, "--select=NL304")
        assert outcome.status == 1
        assert f"as launched in {place}" in outcome.out

    @pytest.mark.parametrize(
        ("name", "text", "reason"),
        [
            ("run.sh", "make all\n", "no line starts a training script"),
            ("lab.ipynb", "x", "it is not a notebook: it is not JSON with cells"),
            ("ci.yaml", "on: push\n", "it is not a sweep: it has no parameters"),
            ("Makefile", "all:\n\techo\n", "no line starts a training script"),
            ("big.sh", "#\n" * 200_000, "it has more than 262,144 characters"),
        ],
    )
    def test_what_holds_no_launch_says_so(self, name: str, text: str, reason: str) -> None:
        Path(name).write_text(text)
        outcome = nanolint(name, GPU)
        assert f"No run in {name}: {reason}" in outcome.out
        assert "No findings" not in outcome.out
        for command in ("explain", "fit"):
            refused = nanolint(command, name, GPU)
            assert (refused.status, refused.error) == (2, f"nanolint: {name}: {reason}")

    def test_from_the_folder_of_the_script(self) -> None:
        Path("jobs/big").mkdir(parents=True)
        Path("jobs/big/run.sh").write_text(
            'cd "$(dirname "$0")/../.."\nHERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)\n'
            f"{self.LINE}\npython $HERE/../../train.py {CONFIG} --gradient_accumulation_steps=7\n"
        )
        outcome = nanolint("jobs/big/run.sh", GPU, "--select=NL304,NL3")
        assert outcome.err == ""
        assert "as launched in jobs/big/run.sh:3" in outcome.out

    def test_a_checkout_on_another_machine(self) -> None:
        here = Path().absolute().name
        Path("run.sh").write_text(
            f"cd /home/somebody/{here}\n{self.LINE}\ncd /other\n{self.LINE}\n"
        )
        outcome = nanolint("run.sh", GPU, "--select=NL304")
        assert "as launched in run.sh:2" in outcome.out
        assert outcome.err == "nanolint: run.sh:4: not checked: train.py: no such file\n"


class TestExplainAndFit:
    @pytest.mark.parametrize("command", ["explain", "fit"])
    def test_they_take_a_launch_script(self, command: str) -> None:
        Path("run.sh").write_text(f"python train.py {CONFIG} --batch_size=4\n")
        outcome = nanolint(command, "run.sh", GPU)
        expected = nanolint(command, CONFIG, GPU, "--", "--batch_size=4")
        assert outcome.status == expected.status == 0
        assert outcome.out == expected.out

    @pytest.mark.parametrize("command", ["explain", "fit"])
    def test_of_several_runs_one_is_chosen_by_its_line(self, command: str) -> None:
        Path("run.sh").write_text(
            f"python train.py {CONFIG}\npython train.py {CONFIG} --batch_size=4\n"
        )
        several = nanolint(command, "run.sh", GPU)
        assert (several.status, several.error) == (
            2,
            f"nanolint: run.sh starts 2 runs; name one: {command} run.sh:1, run.sh:2",
        )
        expected = nanolint(command, CONFIG, GPU, "--", "--batch_size=4")
        assert nanolint(command, "run.sh:2", GPU).out == expected.out
        assert nanolint(command, "run.sh:3", GPU).status == 2
        Path("run.sh").write_text(
            f"for b in 4 8; do python train.py {CONFIG} --batch_size=$b; done"
        )
        assert "run.sh starts 2 runs; name one" in nanolint(command, "run.sh", GPU).error


class TestOneOfSeveralRuns:
    """``explain run.sh:12 -- --flag=value`` names the run of a line that starts several."""

    def several(self, lines: str, command: str = "explain") -> str:
        """What is said where several are meant, which is an error."""
        Path("run.sh").write_text(lines)
        outcome = nanolint(command, "run.sh", GPU)
        assert outcome.status == 2
        return outcome.error.partition("name one: ")[2]

    def with_card(self, command: str) -> list[str]:
        name, file, *words = command.split()
        return [name, file, GPU, *words]

    @pytest.mark.parametrize("command", ["explain", "fit"])
    def test_what_the_advice_says_can_be_followed(self, command: str) -> None:
        line = f"for b in 4 8; do python train.py {CONFIG} --batch_size=$b; done"
        advice = self.several(line, command)
        assert advice == f"{command} run.sh:1 -- --batch_size=4 (or 8)"
        outcome = nanolint(*self.with_card(advice.partition(" (or")[0]))
        assert outcome.status == 0
        assert outcome.out == nanolint(command, CONFIG, GPU, "--", "--batch_size=4").out

    def test_flags_that_tell_runs_apart_only_together_are_all_named(self) -> None:
        advice = self.several(
            "for b in 4 8; do for t in 256 512; do\n"
            f"python train.py {CONFIG} --batch_size=$b --block_size=$t\ndone; done"
        )
        words = "explain run.sh:2 -- --batch_size=4 --block_size=256"
        assert advice == f"{words}or the values of another run"
        assert nanolint(*self.with_card(words)).status == 0

    def test_a_variable_in_front_of_the_line_names_a_run(self) -> None:
        line = "for b in 4 8; do WORLD=$b python train.py config/large.py; done"
        assert self.several(line) == "explain run.sh:1 -- WORLD=4 (or 8)"

    def test_words_that_no_run_has_are_put_on_top_of_each(self) -> None:
        Path("run.sh").write_text(
            f"for b in 4 8; do python train.py {CONFIG} --batch_size=$b; done"
        )
        asked = nanolint("explain", "run.sh", GPU, "--", "--batch_size=2")
        plain = nanolint("explain", CONFIG, GPU, "--", "--batch_size=2")
        assert (asked.status, asked.out) == (0, plain.out)

    def test_what_is_asked_for_stays_in_the_advice(self) -> None:
        Path("run.sh").write_text(
            f"for b in 4 8; do python train.py {CONFIG} --batch_size=$b; done"
        )
        asked = nanolint("explain", "run.sh", GPU, "--", "--block_size=256")
        assert asked.error.endswith("explain run.sh:1 -- --block_size=256 --batch_size=4 (or 8)")

    def test_runs_that_differ_in_their_processes_are_asked_for_by_the_line(self) -> None:
        line = f"for n in 1 2; do torchrun --nproc_per_node=$n train.py {CONFIG}; done"
        assert self.several(line).startswith("explain -- and the launch line itself")
        asked = f"torchrun --nproc_per_node=2 train.py {CONFIG}".split()
        assert nanolint("explain", GPU, "--", *asked).status == 0

    def test_a_value_that_only_the_shell_has_makes_no_second_run(self) -> None:
        Path("run.sh").write_text(
            f'if [ -z "$OUT" ]; then OUT=out; fi\npython train.py {CONFIG} --out_dir=$OUT\n'
        )
        assert nanolint("explain", "run.sh", GPU).status == 0
        advice = self.several(
            f'if [ -z "$B" ]; then B=4; fi\npython train.py {CONFIG} --batch_size=$B\n'
        )
        assert advice
