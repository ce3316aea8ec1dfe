"""``nanolint [check]``: what is found, what is written, what the exit status says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from nanolint.cli import processes
from nanolint.settings.formats import FORMATS
from nanolint_rules.memory import _budget
from tests.support.cli_configs import CONCISE, GPU, HEADS, JSON, LARGE, SMALL, write
from tests.support.command import nanolint

if TYPE_CHECKING:
    from collections.abc import Iterator

ANSWER = r"a\.py: fits RTX 3060 12GB: [\d.]+ of 11\.6 GiB \([\d.]+ to spare\)\n"  # of SMALL


class TestStatus:
    def test_clean(self) -> None:
        write("a.py", SMALL)
        outcome = nanolint("a.py", GPU)
        assert (outcome.status, outcome.err) == (0, "")
        assert re.fullmatch(ANSWER + r"No findings in 1 file\.\n", outcome.out), outcome.out

    def test_findings(self) -> None:
        write("a.py")
        assert nanolint("a.py", GPU).status == 1
        assert nanolint("a.py", GPU, "--fail-on=never").status == 0

    def test_info_never_changes_it(self) -> None:
        write("a.py", HEADS)
        write("nanolint.toml", '[severity]\nNL303 = "info"')
        outcome = nanolint("a.py", GPU, CONCISE)
        assert "NL303[info]" in outcome.out
        assert outcome.status == 0

    def test_a_warning_fails_unless_errors_alone_are_asked_for(self) -> None:
        write("a.py", HEADS)
        write("nanolint.toml", '[severity]\nNL303 = "warning"')
        assert nanolint("a.py", GPU).status == 1
        assert nanolint("a.py", GPU, "--fail-on=error").status == 0

    def test_a_run_without_a_number_fails_only_if_that_is_asked_for(self) -> None:
        write(
            "a.py", f"import os\n{SMALL}n_layer = int(os.environ['B'])\n".replace("n_layer = 2", "")
        )
        assert nanolint("a.py", GPU).status == 0
        assert nanolint("a.py", GPU, "--fail-on=unknown").status == 1

    def test_unreadable_input_outranks_all(self) -> None:
        write("a.py", HEADS)
        assert nanolint("a.py", "gone.py", GPU, "--fail-on=never").status == 2

    def test_all_fixed(self) -> None:
        write("a.py")
        assert nanolint("a.py", GPU, "--fix").status == 0


class TestWithoutACard:
    @pytest.mark.parametrize("batch_size", [2, 16])
    def test_the_first_line_has_the_number_and_the_card_that_fits(self, batch_size: int) -> None:
        write("a.py", LARGE.replace("= 16", f"= {batch_size}") + "compile = False\n")
        outcome = nanolint("a.py")
        told = re.fullmatch(
            r"a\.py: needs ([\d.]+) GiB: fits (.+) \([\d.]+\) and larger"
            r"(?:, (?:not|barely) (.+))?; name yours with --gpu",
            outcome.out.splitlines()[0],
        )
        assert told, outcome.out
        assert outcome.status == 0
        needs, fits, not_on = told.groups()
        assert f"a.py: fits {fits}: {needs} of " in nanolint("a.py", f"--gpu={fits}").out
        assert f"a.py: fits {not_on}: " not in nanolint("a.py", f"--gpu={not_on}").out

    def test_several_runs_have_a_row_each(self) -> None:
        write("a.py", SMALL)
        write("b.py", LARGE)
        head, *rows = nanolint("a.py", "b.py").out.splitlines()
        assert head == "no card is named: name yours with --gpu"
        assert [row.split()[:2] for row in rows[:2]] == [["a.py", "needs"], ["b.py", "needs"]]


class TestFiles:
    def test_without_arguments_this_folder_is_judged(self) -> None:
        write("config/a.py", HEADS)
        assert "config/a.py:1:1: NL303" in nanolint(CONCISE).out

    def test_check_is_the_default_command(self) -> None:
        write("check", HEADS)
        assert nanolint("check", "./check", CONCISE).out == nanolint("./check", CONCISE).out

    def test_options_may_stand_between_files(self) -> None:
        write("a.py", HEADS)
        write("b.py", HEADS)
        out = nanolint("a.py", CONCISE, "b.py").out
        assert "a.py:1:1" in out
        assert "b.py:1:1" in out

    def test_an_empty_folder(self) -> None:
        Path("empty").mkdir()
        outcome = nanolint("empty")
        assert (outcome.status, outcome.error) == (0, "nanolint: no Python files found")

    def test_each_file_is_judged_by_the_settings_of_its_own_folder(self) -> None:
        write("small/a.py")
        write("small/nanolint.toml", 'gpu = "rtx-3060-12gb"')
        write("large/a.py")
        write("large/nanolint.toml", 'gpu = "80GB"')
        outcome = nanolint(".", CONCISE)
        found, _, _ = outcome.out.partition("RTX 3060")
        assert "small/a.py" in found
        assert "large/a.py" not in found
        assert outcome.err == ""

    def test_many_files_are_judged_in_order_whatever_the_parallelism(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        names = [f"config/c{number:02}.py" for number in range(99)]
        for name in names:
            write(name, HEADS)
        monkeypatch.setattr(processes, "_processors", lambda: 2)
        parallel = nanolint("config", CONCISE)
        monkeypatch.setattr(processes, "_processors", lambda: 1)
        assert parallel == nanolint("config", CONCISE)
        found = [line.partition(":")[0] for line in parallel.out.splitlines()[:99]]
        assert found == names

    def test_few_files_that_take_a_while_are_judged_alike_by_several_processes(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for number in range(4):
            write(f"config/c{number}.py", f"{SMALL}batch_size = {8 << number}\n")
        alone = nanolint("config", GPU, "--output-format=json-full")
        monkeypatch.setattr(processes, "_processors", lambda: 2)
        monkeypatch.setattr(processes, "PARALLEL_AFTER_SECONDS", -1)
        begun: list[int] = []
        inside = processes.in_processes

        def counted(do: Any, common: Any, items: Any, *given: Any, **named: Any) -> Iterator[Any]:
            begun.append(len(items))
            yield from inside(do, common, items, *given, **named)

        monkeypatch.setattr(processes, "in_processes", counted)
        assert nanolint("config", GPU, "--output-format=json-full") == alone
        assert begun == [4]
        nanolint("config", GPU, "--fix")
        assert begun == [4]  # what is rewritten stays in one process


class TestTargets:
    def test_without_one_a_line_says_so_and_how_to_set_it(self) -> None:
        write("a.py")
        outcome = nanolint("a.py")
        assert outcome.status == 0
        assert "no target GPU" in outcome.error
        assert "--gpu" in outcome.error

    def test_a_run_off_the_gpu_is_said_to_be_one_when_asked(self) -> None:
        write("a.py", SMALL + "device = 'cpu'\n")
        told = "device = 'cpu': nothing is allocated on a GPU"
        quiet = nanolint("a.py", GPU)
        assert told not in quiet.out
        assert quiet.err == nanolint("a.py").err == "", "a target is not what is missing"
        outcome = nanolint("a.py", GPU, "--verbose")
        assert (outcome.status, told in outcome.out) == (0, True)

    def test_the_variable(self, monkeypatch: pytest.MonkeyPatch) -> None:
        write("a.py")
        monkeypatch.setenv("NANOLINT_GPU", "rtx-3060-12gb")
        assert nanolint("a.py").status == 1

    def test_each_of_several_is_judged(self) -> None:
        write("a.py")
        outcome = nanolint("a.py", GPU, "--gpu=80GB", "--gpu=10GB", "--select=NL101", JSON)
        findings = json.loads(outcome.out)
        assert [finding["gpu"] for finding in findings] == ["10 GB card", "RTX 3060 12GB"]

    def test_memory_that_is_in_use_counts(self) -> None:
        write("a.py", SMALL)
        assert nanolint("a.py", GPU, "--in-use=11.5GiB", "--ignore=NL103").status == 1

    def test_a_count_sets_the_world_size(self) -> None:
        write("a.py", SMALL.replace("= 8", "= 6"))
        assert "NL304" in nanolint("a.py", "--gpu=4xA100-40GB", CONCISE).out
        assert "NL304" not in nanolint("a.py", "--gpu=4xA100-40GB", "--world-size=2", CONCISE).out

    def test_a_count_on_the_command_line_outranks_a_file(self) -> None:
        write("a.py", SMALL.replace("= 8", "= 6"))
        write("nanolint.toml", "world-size = 4")
        assert "NL304" in nanolint("a.py", "--gpu=80GB", CONCISE).out
        assert "NL304" not in nanolint("a.py", "--gpu=2xA100-80GB", CONCISE).out


class TestRules:
    def test_selection(self) -> None:
        write("a.py", HEADS)
        assert nanolint("a.py", "--ignore=NL303").status == 0
        assert nanolint("a.py", "--select=NL1").status == 0
        assert nanolint("a.py", "--select=NL1,indivisible-heads").status == 1

    def test_selecting_on_the_command_line_outranks_a_file(self) -> None:
        write("a.py", HEADS)
        write("nanolint.toml", 'ignore = ["NL303"]')
        assert nanolint("a.py").status == 0
        assert nanolint("a.py", "--isolated").status == 1
        assert nanolint("a.py", "--select=NL303").status == 1

    def test_per_file_ignores_win_over_any_selection(self) -> None:
        write("old/a.py", HEADS)
        write("new/a.py", HEADS)
        write("nanolint.toml", '[per-file-ignores]\n"old/*" = ["NL3"]')
        out = nanolint(".", "--select=NL303", "--per-file-ignores=b.py:NL303", CONCISE).out
        assert "new/a.py:1:1" in out
        assert "old/a.py:1:1" not in out
        assert nanolint(".", "--per-file-ignores=a.py:NL303").status == 0


class TestOverrides:
    def test_nanogpts_own_grammar_stands_after_two_dashes(self) -> None:
        write("a.py", SMALL)
        assert nanolint("--", "a.py", "--n_head=3").status == 1
        assert nanolint("--set", "n_head=4", "--", "a.py", "--n_head=3").status == 0

    def test_a_finding_about_the_command_line_prints_the_corrected_command(self) -> None:
        path = write("a.py", LARGE)
        outcome = nanolint("--fix", GPU, "--", "a.py", "--batch_size=16")
        assert "--batch_size=8 --gradient_accumulation_steps=64" in outcome.out
        assert outcome.status == 1
        assert path.read_text() == LARGE


class TestStdin:
    def test_it_is_judged_like_a_file(self) -> None:
        outcome = nanolint("-", CONCISE, stdin=HEADS.encode())
        assert outcome.status == 1
        assert outcome.out.startswith("<stdin>:1:1: NL303")

    def test_its_name_brings_settings(self) -> None:
        write("config/nanolint.toml", 'ignore = ["NL303"]')
        arguments = ("-", "--stdin-filename=config/a.py", GPU)
        assert nanolint(*arguments, stdin=HEADS.encode()).status == 0

    def test_the_fixed_text_goes_to_stdout_and_the_report_to_stderr(self) -> None:
        raw = LARGE.replace("\n", "\r\n").encode()
        outcome = nanolint("-", "--fix", GPU, stdin=raw)
        assert outcome.status == 0
        assert outcome.out.encode() == raw.replace(b"= 16", b"= 8").replace(b"4 * 8", b"8 * 8")
        assert "Fixed <stdin>: 1 × NL10" in outcome.err

    @pytest.mark.parametrize("raw", [b"a = = 1\n", b"", SMALL.encode(), b"a = '\xc3\xa9'"])
    def test_what_needs_no_fix_comes_back_as_it_was(self, raw: bytes) -> None:
        assert nanolint("-", "--fix", GPU, stdin=raw).out.encode() == raw

    def test_bytes_that_are_no_text(self) -> None:
        outcome = nanolint("-", GPU, stdin=b"\0")
        assert outcome.status == 2
        assert outcome.error.startswith("nanolint: <stdin>: it contains NUL bytes")


class TestOutput:
    def test_full_is_the_default(self) -> None:
        write("a.py", HEADS)
        out = nanolint("a.py", GPU).out
        assert out.startswith("error[NL303]: n_embd = 384 ")
        assert "\n 1 | n_embd = 384\n   | ^^^^^^^^^^^^\n" in out
        assert out.endswith("\n\nFound 1 error in 1 file.\n"), "what stops is no unknown run"

    def test_the_verdict_is_written_before_what_would_help_is_looked_for(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write("a.py", f"import torch\ntorch.backends.cuda.matmul.allow_tf32 = True\n{LARGE}")
        whole = nanolint("a.py", GPU).out
        first, *_ = whole.splitlines()
        assert re.fullmatch(r"error\[NL10.\]: does not fit RTX 3060 12GB: needs .* short\)", first)
        assert whole.count(first) == 1

        def search(*_: object, **__: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(_budget, "best_micro_batch", search)
        assert nanolint("a.py", GPU).out == f"{first}\n"

    def test_the_settings_may_choose(self) -> None:
        write("a.py", HEADS)
        write("nanolint.toml", 'output-format = "concise"')
        assert nanolint("a.py", GPU).out.startswith("a.py:1:1: ")

    @pytest.mark.parametrize("name", FORMATS)
    def test_the_settings_know_every_format(self, name: str) -> None:
        write("a.py", HEADS)
        write("nanolint.toml", f'output-format = "{name}"')
        assert nanolint("a.py", GPU).out == nanolint("a.py", GPU, f"--output-format={name}").out

    @pytest.mark.parametrize("name", ["json", "sarif", "github"])
    def test_formats_for_programs_are_alone_on_stdout(self, name: str) -> None:
        write("a.py", HEADS)
        outcome = nanolint("a.py", GPU, f"--output-format={name}")
        assert outcome.status == 1
        assert "Found" not in outcome.out

    def test_json_is_alone_on_stdout(self) -> None:
        write("a.py", HEADS)
        (finding,) = json.loads(nanolint("a.py", JSON).out)
        assert finding["code"] == "NL303"

    def test_a_file_of_its_own(self) -> None:
        write("a.py", HEADS)
        outcome = nanolint("a.py", GPU, CONCISE, "--output-file=report.txt", "--color=never")
        assert outcome.out == ""
        assert Path("report.txt").read_text().startswith("a.py:1:1: NL303")

    def test_quiet_prints_findings_only(self) -> None:
        write("a.py", HEADS)
        outcome = nanolint("a.py", CONCISE, "--quiet")
        assert outcome.out.count("\n") == 1
        assert outcome.err == ""

    def test_statistics_stand_below_the_report(self) -> None:
        write("a.py", HEADS)
        plain = nanolint("a.py", "-q").out
        assert nanolint("a.py", "--statistics", "-q").out == f"{plain}1  NL303  indivisible-heads\n"

    def test_findings_that_matter_less_may_be_left_out(self) -> None:
        write("a.py", "batch_size = 16\nmax_iters = 5000\nn_embd = 383\n")
        table = 'NL303 = "error"\nNL308 = "warning"\n'
        write("nanolint.toml", f"[severity]\n{table}")
        everything = {f["code"]: f["severity"] for f in json.loads(nanolint("a.py", JSON).out)}
        assert set(everything.values()) >= {"error", "warning"}
        for least, kept in (("warning", {"error", "warning"}), ("error", {"error"})):
            told = json.loads(nanolint("a.py", JSON, f"--min-severity={least}").out)
            assert [f["code"] for f in told] == [c for c, s in everything.items() if s in kept]

    def test_patterns_leave_files_out(self) -> None:
        for name in ("a.py", "b.py", "old/c.py"):
            write(name, HEADS)
        assert nanolint(".", CONCISE, "-q").out.count("NL303") == 3
        told = nanolint(".", CONCISE, "-q", "--exclude", "old,b.*").out
        assert told.startswith("a.py:1:1") and told.count("NL303") == 1

    def test_the_files_are_listed_with_what_they_are_taken_for(self) -> None:
        write("a.py", SMALL)
        write("helper.py", "import sys\n")
        write("broken.py", "batch_size = (\n")
        write("nanolint.toml", 'exclude = ["broken.py"]')
        write("run.sh", "python train.py a.py\n")
        outcome = nanolint("--show-files", ".", "run.sh", "broken.py")
        told = dict(line.split(None, 1) for line in outcome.out.splitlines())
        assert outcome.status == 0
        assert told["a.py"] == "config: a run"
        assert told["helper.py"].startswith("code: nothing")
        assert told["broken.py"] == "not valid Python"
        assert told["run.sh"] == "launch script"
        assert nanolint("--show-files", "nowhere.py").status == 2

    def test_color_when_asked_for(self) -> None:
        write("a.py", HEADS)
        assert "\x1b[" in nanolint("a.py", GPU, "--color=always").out
        assert "\x1b[" not in nanolint("a.py", GPU).out
