"""``rule``, ``gpus``, ``settings``, ``--version`` and ``--help``."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from nanolint import __version__
from nanolint.cli.main import COMMANDS
from nanolint.linting import registry
from tests.support.command import nanolint
from tests.support.project_tree import write_project


class TestRule:
    def test_links_lead_to_pages_from_everywhere(self) -> None:
        links = re.findall(r"\]\((.*?)\)", nanolint("rule", "--all").out)
        assert links
        for link in links:
            _, site, page = link.partition("https://github.com/nanolint/nanolint/blob/main/")
            assert site
            assert (Path(registry.__file__).parents[2] / page.partition("#")[0]).is_file()

    def test_the_list_names_every_rule(self) -> None:
        lines = nanolint("rule").out.splitlines()
        assert any(line.startswith("NL102  oversized-logits ") for line in lines)
        assert [line for line in lines if line.endswith("(off by default)")]

    @pytest.mark.parametrize("name", ["NL101", "nl101", "predicted-oom"])
    def test_a_page_by_code_or_name(self, name: str) -> None:
        out = nanolint("rule", name).out
        assert out.startswith("# predicted-oom (NL101)")
        assert "## Why is this bad?" in out

    def test_a_rendered_page(self) -> None:
        assert "\x1b[" in nanolint("rule", "NL101", "--color=always").out

    def test_json(self) -> None:
        one = json.loads(nanolint("rule", "NL101", "--format=json").out)
        assert (one["code"], one["name"], one["severity"]) == ("NL101", "predicted-oom", "error")
        codes = [rule["code"] for rule in json.loads(nanolint("rule", "--format=json").out)]
        assert codes == sorted(codes)


class TestGpus:
    def test_a_query(self) -> None:
        lines = nanolint("gpus", "rtx", "4070").out.splitlines()
        assert lines[0].split() == ["name", "total", "SMs", "capability"]
        assert any(line.startswith("RTX 4070  ") for line in lines)

    def test_what_gpu_takes_is_found_too(self) -> None:
        assert "11.69 GiB card" in nanolint("gpus", "11.69GiB").out

    def test_all_of_them_fit_a_screen_the_newest_first(self) -> None:
        lines = nanolint("gpus").out.splitlines()
        assert len(lines) < 50
        assert max(map(len, lines)) <= 80
        assert "RTX 5090" in "".join(lines[:8])
        assert "GTX 745" in "".join(lines[-4:])

    def test_json(self) -> None:
        (card,) = json.loads(nanolint("gpus", "H100", "NVL", "--format=json").out)
        assert card["compute_capability"] == [9, 0]


class TestSettings:
    def test_every_setting_and_its_origin(self) -> None:
        Path("nanolint.toml").write_text('gpu = "rtx-4070"\nignore = ["NL105"]', encoding="utf-8")
        lines = nanolint("settings", "--in-use=2GiB").out.splitlines()
        told = {line.split()[0]: line.split(maxsplit=1)[1] for line in lines}
        assert told["gpu"] == '["RTX 4070"]  # nanolint.toml'
        assert told["ignore"] == '["NL105"]  # nanolint.toml'
        assert told["in-use"] == '"2GiB"  # --in-use'
        assert told["world-size"] == "not set"

    def test_json(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("NANOLINT_GPU", "rtx-4070")
        told = json.loads(nanolint("settings", "--format=json").out)
        assert told["gpu"] == {"value": ["RTX 4070"], "origin": "NANOLINT_GPU"}
        assert told["allocator"] == {"value": "default", "origin": "default"}


@pytest.mark.parametrize("option", ["--version", "-V"])
def test_version(option: str) -> None:
    assert nanolint(option).out == f"nanolint {__version__}\n"
    assert nanolint("check", option).out == f"nanolint {__version__}\n"


@pytest.mark.parametrize("command", ["check", "explain", "rule", "gpus", "settings"])
def test_help(command: str) -> None:
    outcome = nanolint(command, "--help")
    assert outcome.status == 0
    assert outcome.out.startswith("usage: nanolint")


def imported(*arguments: str) -> set[str]:
    """The modules that a process has imported once it has done what ``arguments`` ask for.

    The interpreter is bare: what is installed for tests may import anything when it starts.
    """
    code = (
        "import sys; sys.path += sys.argv.pop(1).split('|'); before = {*sys.modules};"
        "from nanolint.cli.main import main; main(sys.argv[1:]);"
        "print(*(sys.modules.keys() - before), file=sys.stderr)"
    )
    command = [sys.executable, "-S", "-c", code, "|".join(filter(None, sys.path)), *arguments]
    done = subprocess.run(command, capture_output=True, check=True, text=True)
    return set(done.stderr.split())


VERSION = {"nanolint", "nanolint.frames"} | {
    f"nanolint.cli{name}" for name in ("", ".main", ".streams")
}
HELP = VERSION | {
    "nanolint.cli.check",
    "nanolint.cli.launch",
    "nanolint.cli.options",
    "nanolint.cli.parser",
    "nanolint.errors",
    "nanolint.settings",
    "nanolint.settings.formats",
}


@pytest.mark.parametrize(("option", "needed"), [("--version", VERSION), ("--help", HELP)])
def test_what_is_printed_at_once_imports_what_it_prints(option: str, needed: set[str]) -> None:
    modules = imported(option)
    assert {name for name in modules if name.startswith("nanolint")} == needed
    assert not modules & {"typing", "pathlib", "dataclasses", "inspect", "shutil", "json"}


def test_nothing_heavy_is_imported_in_vain() -> None:
    modules = imported("gpus", "4070")
    assert not modules & {"libcst", "pydantic", "rich", "pynvml", "pathspec", "nanolint_rules"}
    assert not {name for name in modules if name.startswith(("nanolint.rule", "nanolint.tape"))}


def test_a_check_imports_no_reader_of_what_it_was_not_given(tmp_path: Path) -> None:
    project = write_project(tmp_path, {"config/a.py": "batch_size = 4\n"})
    modules = imported("--gpu=rtx-4090", str(project / "config" / "a.py"))
    assert "nanolint_rules" in modules
    assert not modules & {"libcst", "pydantic", "rich", "pathspec", "pickle", "yaml"}
    unwanted = ("launches.shell", "launches.notebook", "cli.launch_files", "lsp", "trace")
    assert not {
        name for name in modules for each in unwanted if name.startswith(f"nanolint.{each}")
    }


class TestRulePageOnATerminal:
    def test_it_says_what_the_page_on_the_web_shows_elsewhere(self) -> None:
        shown = re.sub(r"\x1b\[[\d;]*m", "", nanolint("rule", "NL103", "--color=always").out)
        assert "warning | fix: sometimes | needs a GPU" in shown
        assert "config/edge.py on rtx-3060:" in shown
        assert "The run fits comfortably" in shown
        assert shown.count("batch_size") < nanolint("rule", "NL103").out.count("batch_size")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_a_terminal_of_80_columns(command: str) -> None:
    found = subprocess.run(
        [sys.executable, "-m", "nanolint", command, "--help"],
        env={**os.environ, "COLUMNS": "80"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert [line for line in found.stdout.splitlines() if len(line) > 79] == []


def test_help_names_every_command() -> None:
    out = nanolint("--help").out
    assert [name for name in COMMANDS if f"\n  {name} " not in out] == []
