"""A safe fix never changes the batch of any run of the project, whoever starts it and how."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from hypothesis import event, given
from hypothesis import strategies as st

from tests.support import project_tree
from tests.support.command import nanolint
from tests.support.effort import examples
from tests.support.generated_projects import (
    BASE,
    IDIOMS,
    LIBRARY,
    LINES,
    SHELL,
    SIZES,
    Generated,
    projects,
)
from tests.support.starting import Start, batches, launched

if TYPE_CHECKING:
    from collections.abc import Iterator

PATHS = (("config",), (".",), (BASE,), (BASE, "config/over.py"))


@examples(12)
@given(project=projects(), data=st.data())
def test_a_safe_fix_keeps_the_batch_of_every_run(project: Generated, data: st.DataObject) -> None:
    scripts = tuple(name for name in project.files if name in SCRIPTS)
    paths = data.draw(st.sampled_from([*PATHS, scripts or ("config",), ("config", *scripts)]))
    event("fixed" if assert_kept(project, paths) else "not fixed")


@examples(8)
@given(project=projects(), data=st.data())
def test_a_launch_line_is_fixed_for_every_run(project: Generated, data: st.DataObject) -> None:
    start = data.draw(st.sampled_from(project.starts))
    with generated(project) as root:
        words = [each if each.startswith("--") else str(root / each) for each in start.arguments]
        launch = ["python", str(root / "train.py"), *words]
        before = trained(root, project)
        out = nanolint("launch", *FIX, "--", *launch).out
        assert trained(root, project) == before, out
        event("fixed" if "Fixed" in out else "not fixed")


def test_every_idiom_keeps_a_base_from_being_fixed() -> None:
    for idiom in IDIOMS:
        small = idiom + "batch_size = 4\n"
        files = {BASE: base(64), "config/small.py": small, "lib.py": LIBRARY}
        starts = (Start((BASE,)), Start(("config/small.py",)))
        assert not assert_kept(Generated(files, starts, alone=False, plain=True), ("config",))


def test_every_launch_line_is_kept_or_stands_in_the_way() -> None:
    for name, line, start in LINES:
        files = {BASE: base(64), "config/over.py": "gradient_accumulation_steps = 16\n", name: line}
        starts = (Start((BASE,)), *([start] if start else []))
        assert_kept(Generated(files, starts, alone=False, plain=True), ("config",))


FIX = ("--gpu", "1GiB", "--select", "NL1", "--fix")
SCRIPTS = (*SHELL, "Makefile", "a.ipynb")


def base(batch: int) -> str:
    return f"{SIZES}batch_size = {batch}\ngradient_accumulation_steps = 32\n"


def assert_kept(project: Generated, given_paths: tuple[str, ...]) -> bool:
    """Fix the project, and compare its runs. Returns whether the base was fixed."""
    with generated(project) as root:
        before = trained(root, project)
        paths = [str(root / path) for path in given_paths]
        outcome = nanolint(*FIX, *paths)
        after = trained(root, project)
        texts = {name: (root / name).read_text() for name in project.files}
    assert all(isinstance(batch, int) for batch in before), before
    assert before == after, (texts, outcome.out)
    fixed = texts[BASE] != project.files[BASE]
    if any(path in ("config", ".", BASE) for path in given_paths):
        assert fixed or "unsafe: " in outcome.out
        if project.alone and project.plain:
            assert fixed, outcome.out
    return fixed


def trained(root: Path, project: Generated) -> list[int | str]:
    """The batch of every run that anybody starts in the project."""
    scripts = [name for name in SHELL if name in project.files]
    return batches(root, [*project.starts, *launched(root, scripts)])


@contextmanager
def generated(project: Generated) -> Iterator[Path]:
    """The project in a folder of its own."""
    with TemporaryDirectory() as folder:
        yield project_tree.write_project(Path(folder), dict(project.files))
