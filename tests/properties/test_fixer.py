"""The fixer on generated configs: whatever the layout, the run stays the one asked for."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from nanolint.gpus.lookup import find
from nanolint.linting.engine import Report, lint
from nanolint.linting.fixing import Fixed, fix_text, is_wanted
from nanolint.linting.registry import Selection, load
from nanolint.linting.setup import Setup
from nanolint.run.run import Dialect, Run
from nanolint.run.settled import Options
from nanolint.source.parse import parse
from nanolint.source.text import decode, encode
from nanolint.trainers.nanogpt.project import find_project
from nanolint.trainers.nanogpt.resolve import resolve
from nanolint.verdict.verdict import Outcome, judge
from tests.support import project_tree
from tests.support.effort import examples
from tests.support.generated_configs import DEFAULTS, Config, configs

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from nanolint.gpus.gpu import Machine

    Scripts = Mapping[Dialect, Path]

FAMILY = {"NL101", "NL102", "NL104"}
FAILING = {Outcome.OUT_OF_MEMORY, Outcome.FRAGMENTED}
CARDS = ["1GiB", "1GiB", "1536MiB", "2GiB", "3GiB", "6GiB", "rtx-3060", "t4"]
PER_GPU_WORLD = "\nif 'RANK' in os.environ:\n    device = 'cuda:' + os.environ['LOCAL_RANK']\n"

RULES = load().choose(Selection())
CODES = {rule.code.lower(): rule.code for rule in load().rules}


@dataclass(frozen=True)
class Scene:
    """A config, and where it is to run."""

    config: Config
    cards: tuple[str, ...]
    world_size: int
    dialect: Dialect

    def setup(self, scripts: Scripts) -> Setup:
        script = scripts[self.dialect]
        options = Options(world_size=self.world_size)
        return Setup(RULES, CODES, tuple(map(find, self.cards)), options, script)


@st.composite
def scenes(draw: st.DrawFn) -> Scene:
    values: dict[str, object] = {
        "block_size": draw(st.sampled_from([64, 128, 256])),
        "n_layer": draw(st.sampled_from([1, 2])),
        "n_head": 4,
        "n_embd": draw(st.sampled_from([64, 256])),
        "dtype": draw(st.sampled_from(["bfloat16", "float16", "float32"])),
        "compile": draw(st.booleans()),
        "batch_size": draw(st.sampled_from([1, 7, 12, 30, 48, 64, 100, 144, 256, 360, 509])),
    }
    processes = draw(st.sampled_from([1, 1, 2, 4, 8]))
    if draw(st.booleans()):
        passes = draw(st.sampled_from([1, 4, 5, 6, 8, 40, 64]))  # that all processes can share
        values["gradient_accumulation_steps"] = passes * (processes if passes % processes else 1)
    if draw(st.integers(0, 5)) == 0:
        values["eval_only"] = True
        if draw(st.booleans()):
            values["eval_iters"] = draw(st.sampled_from([1, 10, 200]))
    if values.get("eval_only") and processes > 1:
        values["compile"] = False  # DDP splits the graph of an evaluation: that is in doubt
    return Scene(
        config=draw(configs(values)),
        cards=tuple(draw(st.lists(st.sampled_from(CARDS), min_size=1, max_size=2, unique=True))),
        world_size=processes,
        dialect=draw(st.sampled_from([Dialect.TOTAL, Dialect.TOTAL, Dialect.PER_GPU])),
    )


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Scripts:
    """A train.py that divides the accumulation among the GPUs, and one that does not."""
    worlds = {Dialect.TOTAL: project_tree.WORLD, Dialect.PER_GPU: PER_GPU_WORLD}
    found = {}
    for dialect, world in worlds.items():
        root = tmp_path_factory.mktemp(dialect.name)
        text = project_tree.train_script(world=world)
        found[dialect] = project_tree.write_project(root, {"train.py": text}) / "train.py"
    return found


@examples(12)
@given(scene=scenes())
def test_a_fix_keeps_the_run_and_every_byte_around_it(scene: Scene, scripts: Scripts) -> None:
    config, setup = scene.config, scene.setup(scripts)
    before, result = fixed(config.text, setup)
    old, new = values(config.text), values(result.text)
    raw = encode(decode(config.raw), result.text)
    ast.parse(raw)

    partner = "eval_iters" if old["eval_only"] else "gradient_accumulation_steps"
    pair = ("batch_size", partner)
    event(f"{len(result.applied)} applied, {len(scene.cards)} cards, {scene.dialect.value}")
    assert result.dropped == ()
    for key in old.keys() | new.keys():
        if key not in pair:
            assert (key, old[key]) == (key, new[key])
    assert old["batch_size"] * old[partner] == new["batch_size"] * new[partner]

    assert comments(config.text) == comments(result.text)
    assert_only_values_differ(config, result.text, pair)
    assert fixed(result.text, setup)[1].text == result.text

    fails = any(outcome(plain(old), card, scene, scripts) in FAILING for card in scene.cards)
    assert fails is any(each.code in FAMILY for each in before.diagnostics)
    best = brute_force(plain(old), partner, scene, scripts) if fails else None
    left = [each for each in result.report.diagnostics if each.code in FAMILY]
    if not fails:
        event("fits as it is")
        assert result.text == config.text
    elif best is None:
        event("nothing fits")
        assert all("no micro-batch fits" in each.remedy for each in left) and left
    elif config.told or chooses(config, pair):
        event("chooses")  # an expression that a number would flatten, or a text with the value
        assert new["batch_size"] == old["batch_size"]
        assert all(any("unsafe" in note or "not fixed" in note for note in e.notes) for e in left)
    elif config.blocked:
        event("blocked")
        assert new["batch_size"] in (old["batch_size"], best)
        assert all(any("not fixed:" in note for note in each.notes) for each in left)
    else:
        event("brute force agrees")
        assert (new["batch_size"], left) == (best, [])


def fixed(text: str, setup: Setup) -> tuple[Report, Fixed]:
    """What is found in ``text``, and what the safe fixes make of it."""
    reports: list[Report] = []

    def linted(text: str) -> Report:
        reports.append(lint(text, None, setup))
        return reports[-1]

    result = fix_text(linted, text, fixable=partial(is_wanted, unsafe=False))
    return reports[0], result


def values(text: str) -> dict[str, Any]:
    """What Python makes of a generated config, which is safe to run."""
    names: dict[str, Any] = dict(DEFAULTS)
    exec(text, names)
    return {key: value for key, value in names.items() if key not in ("__builtins__", "os")}


def comments(text: str) -> list[str]:
    tokens = tokenize.generate_tokens(io.StringIO(text, newline=None).readline)
    return [token.string for token in tokens if token.type == tokenize.COMMENT]


def assert_only_values_differ(config: Config, new_text: str, pair: tuple[str, str]) -> None:
    """Outside the values of the pair, and a line put in for the partner, nothing changed."""
    written = {piece.key for piece in config.pieces}
    if pair[1] not in written and new_text != config.text:
        line = re.compile(rf"(?:\r\n|\r|\n){pair[1]}[ \t]*=[ \t]*\d+(?=[\r\n]|$)")
        new_text, count = line.subn("", new_text)
        assert count == 1
    pattern = "".join(
        ".+?" if piece.key in pair else re.escape(_flush(piece.text)) for piece in config.pieces
    )
    assert re.fullmatch(pattern, _flush(new_text), re.DOTALL), (config.text, new_text)


def _flush(text: str) -> str:
    """``text`` with one space before each comment behind code, which keeps its column."""
    return re.sub(r" +#", " #", text)


def chooses(config: Config, pair: tuple[str, str]) -> bool:
    """Whether a value of the pair is written as a choice."""
    return any(
        piece.key in pair and re.search(r"\bif\b|\bmax\b", piece.text) for piece in config.pieces
    )


def plain(names: dict[str, Any]) -> tuple[tuple[str, object], ...]:
    """The keys that decide memory."""
    keys = ("block_size", "n_layer", "n_head", "n_embd", "dtype", "compile", "eval_only")
    more = ("batch_size", "gradient_accumulation_steps", "eval_iters")
    return tuple((key, names[key]) for key in (*keys, *more))


def brute_force(
    names: tuple[tuple[str, object], ...], partner: str, scene: Scene, scripts: Scripts
) -> int | None:
    """The largest smaller micro-batch, of all that divide the product, that suits every card."""
    old: dict[str, Any] = dict(names)
    product, best = old["batch_size"] * old[partner], None
    for batch in range(1, old["batch_size"]):
        if product % batch:
            continue
        steps = product // batch
        total = scene.dialect is Dialect.TOTAL and not old["eval_only"]
        if total and steps % scene.world_size:
            continue
        changed = tuple({**old, "batch_size": batch, partner: steps}.items())
        if all(
            outcome(changed, card, scene, scripts) is Outcome.COMFORTABLE for card in scene.cards
        ):
            best = batch
    return best


def outcome(
    names: tuple[tuple[str, object], ...], card: str, scene: Scene, scripts: Scripts
) -> Outcome:
    return _outcome(names, card, scene.world_size, scripts[scene.dialect])


@cache
def _outcome(
    names: tuple[tuple[str, object], ...], card: str, world_size: int, script: Path
) -> Outcome:
    target = find(card)
    return judge(run_of(names, target, world_size, script), target).outcome


def run_of(
    names: tuple[tuple[str, object], ...], target: Machine, world_size: int, script: Path
) -> Run:
    """The run of a config that says these things as plainly as possible."""
    project = find_project(None, train_script=script)
    module = parse("".join(f"{key} = {value!r}\n" for key, value in names), project.environment)
    found = resolve(module, project, Options(world_size=world_size), target).read
    assert found is not None and found.run is not None
    return found.run
