"""The hooks under the real pre-commit, in a throw-away repository that takes them from here.

pre-commit installs this checkout, as it stands, into an environment of its own.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.project_tree import write_project
from tests.support.repository import ROOT

if TYPE_CHECKING:
    from pathlib import Path

CONFIG = "config/train_large.py"
LARGE = """\
# 124M on one card
batch_size = 16  # micro-batch
gradient_accumulation_steps = 4 * 8
dtype = 'bfloat16'
"""
FIXED = LARGE.replace("= 16", "= 8").replace("4 * 8", "8 * 8")

pytestmark = pytest.mark.skipif(
    not (ROOT / ".git").exists() or shutil.which("git") is None, reason="needs git and a checkout"
)


def run(*command: str, cwd: Path, check: bool = True) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(command, cwd=cwd, text=True, capture_output=True, check=False)
    assert not check or done.returncode == 0, done.stdout + done.stderr
    return done


class Repository:
    """A git repository with the hooks installed."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def write(self, name: str, text: str, *, stage: bool = True) -> None:
        path = self.root / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text.encode())
        if stage:
            self.git("add", name)

    def text(self, name: str = CONFIG) -> str:
        return (self.root / name).read_bytes().decode()

    def git(self, *arguments: str) -> str:
        return run("git", *arguments, cwd=self.root).stdout

    def commit(self) -> tuple[bool, str]:
        """Whether a commit goes through, and what pre-commit says."""
        done = run("git", "commit", "-m", "message", cwd=self.root, check=False)
        return done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """This checkout, uncommitted changes included, as a repository with one commit."""
    folder = tmp_path_factory.mktemp("published")
    listed = run("git", "ls-files", "-z", "-co", "--exclude-standard", cwd=ROOT).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "publish"]):
        run("git", *command, cwd=folder)
    return folder


@pytest.fixture(scope="module", autouse=True)
def environment(tmp_path_factory: pytest.TempPathFactory) -> object:
    """No settings of the user's; one folder for what pre-commit installs."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith(("GIT_", "NANOLINT_"))]:
            patch.delenv(name)
        patch.delenv("PYTHONPATH", raising=False)
        patch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        for role in ("AUTHOR", "COMMITTER"):
            patch.setenv(f"GIT_{role}_NAME", "Nobody")
            patch.setenv(f"GIT_{role}_EMAIL", "nobody@example.org")
        patch.setenv("PRE_COMMIT_HOME", str(tmp_path_factory.mktemp("pre-commit")))
        yield


@pytest.fixture
def repository(tmp_path: Path, published: Path, request: pytest.FixtureRequest) -> Repository:
    """A training project; the hook is ``nanolint`` unless the test asks for another."""
    root = write_project(tmp_path / "project")
    hook = getattr(request, "param", "nanolint")
    revision = run("git", "rev-parse", "HEAD", cwd=published).stdout.strip()
    (root / ".pre-commit-config.yaml").write_text(
        f"repos:\n- repo: {published}\n  rev: {revision}\n  hooks:\n"
        f"  - id: {hook}\n    args: [--gpu=rtx-4070]\n"
    )
    run("git", "init", "-q", cwd=root)
    run("git", "add", "-A", cwd=root)
    run("git", "commit", "-qm", "start", cwd=root)
    run(sys.executable, "-m", "pre_commit", "install", cwd=root)
    return Repository(root)


@pytest.mark.parametrize("repository", ["nanolint-fix"], indirect=True)
def test_a_commit_is_refused_and_fixed_and_then_passes(repository: Repository) -> None:
    repository.write(CONFIG, LARGE)
    passed, told = repository.commit()
    assert not passed
    assert f"Fixed {CONFIG}: 1 × NL10" in told
    assert "files were modified by this hook" in told
    assert repository.text() == FIXED
    repository.git("add", CONFIG)
    assert repository.commit()[0]
    assert repository.git("show", f"HEAD:{CONFIG}") == FIXED


def test_what_is_staged_is_judged(repository: Repository) -> None:
    repository.write(CONFIG, LARGE)
    repository.write(CONFIG, FIXED, stage=False)
    assert not repository.commit()[0]
    assert repository.text() == FIXED
    repository.write(CONFIG, FIXED)
    repository.write(CONFIG, LARGE, stage=False)
    assert repository.commit()[0]
    assert repository.text() == LARGE


@pytest.mark.parametrize("repository", ["nanolint-fix"], indirect=True)
def test_a_fix_of_what_is_staged_keeps_what_is_not(repository: Repository) -> None:
    padding = "# nothing\n" * 9
    repository.write(CONFIG, LARGE + padding)
    repository.write(CONFIG, LARGE + padding + "seed = 1\n", stage=False)
    assert not repository.commit()[0]
    assert repository.text() == FIXED + padding + "seed = 1\n"
    assert repository.git("show", f":{CONFIG}") == LARGE + padding


def test_a_renamed_file_is_judged_under_its_new_name(repository: Repository) -> None:
    repository.write(CONFIG, LARGE)
    repository.git("commit", "--no-verify", "-qm", "let it pass")
    repository.git("mv", CONFIG, "config/renamed.py")
    passed, told = repository.commit()
    assert not passed
    assert "config/renamed.py" in told
    assert CONFIG not in told


def test_the_launch_line_of_a_shell_script_is_judged(repository: Repository) -> None:
    repository.write("build.sh", "make all\n")
    assert repository.commit()[0]
    repository.write("run.sh", "python train.py --batch_size=64\n")
    passed, told = repository.commit()
    assert not passed
    assert "run.sh:1:" in told


def test_a_commit_without_python_or_shell_files_passes(repository: Repository) -> None:
    repository.write("notes.txt", "batch_size = 16\n")
    passed, told = repository.commit()
    assert passed
    assert "(no files to check)" in told


def test_excluded_files_pass_although_they_are_named(repository: Repository) -> None:
    repository.write("nanolint.toml", 'extend-exclude = ["config/old"]\n')
    (repository.root / "config").mkdir()
    repository.write("config/old/large.py", LARGE)
    assert repository.commit()[0]
