"""``explain`` as text: every section, several targets, none, and configs that cannot be checked."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.command import nanolint
from tests.support.project_tree import write_project
from tests.support.sizes import MODEL

CONFIG = """\
batch_size = 16
gradient_accumulation_steps = 32
block_size = 1024
dtype = 'bfloat16'
"""
ERROR = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {tried} GiB. GPU 0 has a total "
    "capacity of 11.69 GiB of which 2.68 GiB is free. Process 4321 has 224.90 MiB memory in use. "
    "Including non-PyTorch memory, this process has 7.04 GiB memory in use. Of the allocated "
    "memory 6.78 GiB is allocated by PyTorch, and 38.50 MiB is reserved by PyTorch but unallocated."
)


@pytest.fixture
def config() -> str:
    Path("config.py").write_text(CONFIG + MODEL, encoding="utf-8")
    return "config.py"


def words(text: str) -> str:
    """``text`` on one line, so that neither wrapping nor alignment matters."""
    return " ".join(text.split())


class TestTheRun:
    def test_each_value_has_its_origin(self) -> None:
        root = write_project(Path("project"))
        (root / "config.py").write_text(CONFIG, encoding="utf-8")
        out = nanolint(
            "explain", "project/config.py", "--gpu=8xA100-40GB", "--set=compile=False"
        ).out
        told = words(out)
        assert "batch_size 16 line 1" in told
        assert "n_layer 12 train.py's default" in told
        assert "compile False the command line" in told
        assert "world size 8" in told
        assert "effective batch 512 sequences a step, 524,288 tokens" in told

    def test_what_the_gpu_decides_is_told_for_each_gpu(self) -> None:
        Path("config.py").write_text("batch_size = 4\nblock_size = 256\n", encoding="utf-8")
        told = words(nanolint("explain", "config.py", "--gpu=t4", "--gpu=rtx-4070").out)
        assert "dtype 'bfloat16' chosen for this GPU" in told
        assert "counted in float16: T4 has no bfloat16 (NL203)" in told
        assert "attention efficient" in told
        assert "attention flash" in told

    def test_nanogpts_own_log_lines(self, config: str) -> None:
        lines = nanolint("explain", config).out.splitlines()
        assert "  tokens per iteration will be: 524,288" in lines
        assert "  number of parameters: 123.59M" in lines
        assert "  num decayed parameter tensors: 50, with 124,354,560 parameters" in lines
        assert "  num non-decayed parameter tensors: 25, with 19,200 parameters" in lines

    def test_the_log_lines_of_a_checkpoint_with_biases(self) -> None:
        Path("config.py").write_text("init_from = 'gpt2-xl'\nbatch_size = 1\n", encoding="utf-8")
        out = nanolint("explain", "config.py").out
        assert "number of parameters: 1555.97M" in out
        assert "num decayed parameter tensors: 194, with 1,556,609,600 parameters" in out
        assert "num non-decayed parameter tensors: 386, with 1,001,600 parameters" in out

    def test_a_value_that_only_a_run_could_tell(self) -> None:
        Path("config.py").write_text(
            "import os\nbatch_size = int(os.environ['B'])\nblock_size = 64\n", encoding="utf-8"
        )
        out = nanolint("explain", "config.py", "--gpu=rtx-4070")
        assert out.status == 0
        assert "batch_size ? not known before the run" in words(out.out)
        assert "Memory cannot be checked" in out.out
        assert "`--set batch_size=N` settles it" in out.out

    def test_values_that_nanogpt_would_refuse(self) -> None:
        Path("config.py").write_text("n_embd = 500\nbatch_size = 4\n", encoding="utf-8")
        told = words(nanolint("explain", "config.py").out)
        assert "n_embd = 500 is not a multiple of n_head = 12" in told
        assert "nanolint trace" not in told

    def test_what_is_not_python_is_told_with_its_line(self) -> None:
        Path("config.py").write_text("batch_size = 4\nblock_size =\n", encoding="utf-8")
        for command in ("explain", "fit"):
            told = nanolint(command, "config.py").error
            assert told.startswith("nanolint: config.py: not valid Python: ")
            assert told.endswith(", line 2")

    def test_a_run_on_the_cpu(self) -> None:
        Path("config.py").write_text("device = 'cpu'\ncompile = False\n", encoding="utf-8")
        assert "nothing is allocated on a GPU" in nanolint("explain", "config.py").out


class TestTheBudget:
    def test_without_a_target_there_is_a_peak_and_the_cards_that_have_it(self, config: str) -> None:
        out = nanolint("explain", config).out
        told = out.splitlines()[1]
        assert re.fullmatch(
            r"needs [\d.]+ GiB: fits RTX 4080 \([\d.]+\) and larger, not RTX 4070; "
            "name yours with --gpu",
            told,
        )
        assert "At the peak, in the backward pass at: gradient of the logits" in words(out)
        assert "PyTorch would stop" not in out

    def test_the_components_add_up(self, config: str) -> None:
        lines = nanolint("explain", config).out.splitlines()
        start = next(i for i, line in enumerate(lines) if line.startswith("At the peak"))
        end = next(i for i, line in enumerate(lines) if line.startswith("  allocated"))
        shares = [float(line.split()[-2]) for line in lines[start + 2 : end]]
        assert sum(shares) == pytest.approx(100, abs=0.5)

    def test_the_phases_in_their_order(self, config: str) -> None:
        out = nanolint("explain", config).out
        names = ["estimate_loss ", "forward ", "backward ", "optimizer ", "later estimate_loss "]
        places = [out.index(f"\n  {name}", out.index("each phase")) for name in names]
        assert places == sorted(places)

    def test_what_one_more_sequence_costs_where_there_is_room(self, config: str) -> None:
        told = words(nanolint("explain", config, "--gpu=rtx-4090").out)
        assert "one more sequence costs 623.95 MiB" in told
        assert "one fewer" not in told

    def test_what_one_fewer_frees_where_there_is_none(self, config: str) -> None:
        told = words(nanolint("explain", config, "--gpu=rtx-3060").out)
        assert "one fewer frees 623.95 MiB" in told
        assert "one more" not in told


class TestTheVerdict:
    def test_what_does_not_fit_gets_pytorchs_error_and_the_ways_out(self, config: str) -> None:
        out = nanolint("explain", config, "--gpu=rtx-3060").out
        told = words(out)
        assert "RTX 3060 12GB: out of memory" in told
        assert "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.54 GiB." in told
        ways = out[out.index("What would help") :].splitlines()[1:]
        assert ways[0] == "  same result"
        assert ways[1].startswith("    batch_size = 8, gradient_accumulation_steps = 64 ")
        assert ways[1].endswith("  fits")
        assert "  another model" not in ways  # which is not tried where another way fits
        vain = ways[ways.index("  would not help") :]
        assert any(way.startswith("    compile = False ") for way in vain)

    def test_what_fits_has_room_and_needs_no_help(self, config: str) -> None:
        out = nanolint("explain", config, "--gpu=a100-40gb").out
        assert "A100 40GB: fits" in out
        assert "to spare" in out
        assert "What would help" not in out

    def test_other_programs_count(self, config: str) -> None:
        told = words(nanolint("explain", config, "--gpu=rtx-4090", "--in-use=14GiB").out)
        assert "other programs -14.00 GiB" in told
        assert "other programs closed (frees 14.0 GiB)" in told

    def test_each_of_several_targets(self, config: str) -> None:
        out = nanolint("explain", config, "--gpu=rtx-3060", "--gpu=rtx-4090").out
        assert "RTX 3060 12GB: out of memory" in out
        assert "RTX 4090: fits" in out
        assert out.count("The run\n") == 1


class TestPasted:
    def test_the_replay_agrees(self) -> None:
        Path("config.py").write_text(CONFIG.replace("= 16", "= 64"), encoding="utf-8")
        error = ERROR.format(tried="6.14").encode()
        told = words(nanolint("explain", "config.py", "--oom=-", stdin=error).out)
        assert "others and the driver 1.97 GiB" in told
        assert "stops in the first estimate_loss" in told
        assert told.startswith("It agrees: the same allocation fails.")
        assert "batch_size = 8, gradient_accumulation_steps = 256" in told

    def test_it_fails_elsewhere(self, config: str) -> None:
        Path("error.txt").write_text(ERROR.format(tried="6.14"), encoding="utf-8")
        told = words(nanolint("explain", config, "--oom=error.txt").out)
        assert "but stops elsewhere" in told

    def test_it_fits(self) -> None:
        Path("config.py").write_text(CONFIG.replace("= 16", "= 1"), encoding="utf-8")
        error = ERROR.format(tried="6.14").encode()
        told = words(nanolint("explain", "config.py", "--oom=-", stdin=error).out)
        assert told.startswith("It does not agree")

    def test_the_card_of_the_error_counts_not_that_of_the_settings(self, config: str) -> None:
        error = ERROR.format(tried="6.14").encode()
        out = nanolint("explain", config, "--gpu=h200", "--oom=-", stdin=error).out
        assert "11.69 GiB card" in out
        same = nanolint("explain", config, "--gpu=rtx-4070", "--oom=-", stdin=error).out
        assert "RTX 4070" in same

    def test_a_limit_that_the_process_sets_itself_counts_in_the_replay(self, config: str) -> None:
        Path(config).write_text(CONFIG.replace("= 16", "= 4"), encoding="utf-8")
        free = ERROR.format(tried="0.39")
        limited = free.replace("Of the allocated", "4.00 GiB allowed; Of the allocated")
        told = words(nanolint("explain", config, "--oom=-", stdin=limited.encode()).out)
        assert "allowed to the process 4.00 GiB" in told
        assert "stops in the" in told
        told = words(nanolint("explain", config, "--oom=-", stdin=free.encode()).out)
        assert "allowed to the process" not in told
        assert told.startswith("It does not agree")

    @pytest.mark.parametrize("pasted", [b"", b"Killed", b"\xff\xfe\x00", b"out of memory" * 99_999])
    def test_what_is_no_such_error(self, config: str, pasted: bytes) -> None:
        outcome = nanolint("explain", config, "--oom=-", stdin=pasted)
        assert outcome.status == 2
        assert "no PyTorch out-of-memory error" in outcome.error

    def test_a_file_that_is_not_there(self, config: str) -> None:
        outcome = nanolint("explain", config, "--oom=nowhere.txt")
        assert outcome.status == 2
        assert outcome.error.startswith("nanolint: --oom: nowhere.txt: ")


class TestLooks:
    def test_plain_text_has_no_escapes_and_80_columns(self, config: str) -> None:
        out = nanolint("explain", config, "--gpu=rtx-3060", "--in-use=1GiB").out
        assert "\x1b" not in out
        assert max(map(len, out.splitlines())) <= 80
        assert not [line for line in out.splitlines() if line != line.rstrip()]

    def test_colour_when_asked_for(self, config: str) -> None:
        assert "\x1b[" in nanolint("explain", config, "--color=always").out


def test_it_explains_on_the_card_that_the_settings_give_the_file(tmp_path: Path) -> None:
    (tmp_path / "nanolint.toml").write_text(
        'gpu = "rtx-4070"\n[[target]]\ngpu = "a100-40gb"\ncount = 8\nfiles = ["node.py"]\n'
    )
    for name, card in (("node.py", "8x A100 40GB: fits"), ("other.py", "RTX 4070: fits")):
        config = tmp_path / name
        config.write_text("batch_size = 12\ngradient_accumulation_steps = 40\n")
        found = nanolint("explain", str(config))
        assert found.status == 0
        assert card in found.out
