"""The roles of values, by what a script does with them, and what stays unknown."""

from __future__ import annotations

import pytest

from nanolint.run.described import Role
from nanolint.run.equation import NotKnown
from nanolint.run.terms import describe
from nanolint.trainers.script.core import Around
from tests.unit.trainers.written_scripts import MODEL, read, script

PLAIN = "B, T, passes = 8, 512, 4\n"


def test_every_role_is_found_by_what_is_done_with_it() -> None:
    found = read(script(PLAIN))
    values = {role: found.value(role) for role in found.roles}
    assert values == {
        Role.MICRO_BATCH: 8,
        Role.CONTEXT: 512,
        Role.ACCUMULATION: 4,
        Role.LAYERS: 4,
        Role.WIDTH: 384,
        Role.HEADS: 6,
        Role.VOCABULARY: 50304,
        Role.DTYPE: "bfloat16",
        Role.COMPILE: True,
        Role.EVALUATION: None,
    }


EQUATIONS = {
    "total // (B * T * W)": ("total = 2**16\npasses = total // (B * T * world)\n", True),
    "batch // (B * W)": ("batch = 128\npasses = batch // (B * world)\n", True),
    "accumulation // W": ("ga = 40\nassert ga % world == 0\npasses = ga // world\n", True),
    "8 // W": ("passes = 8 // world\nB = 2**16 // (8 * T)\n", False),
}
WORLD = 'B, T = 8, 512\nworld = int(os.environ.get("WORLD_SIZE", 1))\n'


@pytest.mark.parametrize("world", [1, 2, 4])
@pytest.mark.parametrize("name", EQUATIONS)
def test_an_equation_keeps_the_tokens_of_a_step(name: str, world: int) -> None:
    settings, can_shrink = EQUATIONS[name]
    equation = read(script(WORLD + settings), Around(world_size=world)).equation
    assert equation is not None
    assert equation.world == world
    changes = equation.changes_for(4)
    assert (changes is not None) is can_shrink
    if changes is not None:
        assert equation.number(equation.micro_batch, changes) == 4
        assert equation.tokens_per_step(changes) == equation.tokens_per_step()


def test_an_assert_that_will_fail_is_found_and_the_script_followed_on() -> None:
    settings = (
        "total, B, T = 2**16, 6, 512\nassert total % (B * T) == 0\npasses = total // (B * T)\n"
    )
    equation = read(script(settings)).equation
    assert equation is not None
    assert [check.text for check in equation.broken()] == ["total % (B * T) == 0"]
    assert equation.nearest() == 4


def test_a_refusal_by_raise_is_an_assert() -> None:
    settings = """
total, B, T = 2**16, 8, 512
if total % (B * T) != 0:
    raise ValueError("not a multiple")
passes = total // (B * T)
"""
    equation = read(script(settings)).equation
    assert equation is not None
    assert not list(equation.broken())
    assert equation.changes_for(3) is None


def test_accumulation_by_a_condition_in_the_loop() -> None:
    text = (
        MODEL
        + """
B, T, every = 8, 512, 4
model = Net(Config(seq_len=T))
optimizer = torch.optim.AdamW(model.parameters())
for i in range(1000):
    x, y = get_batch(B, T)
    loss = model(x, y)
    (loss / every).backward()
    if (i + 1) % every == 0:
        optimizer.step()
        optimizer.zero_grad()
"""
    )
    found = read(text)
    assert found.value(Role.ACCUMULATION) == 4
    assert found.value(Role.COMPILE) is False
    assert found.value(Role.DTYPE) == "float32"


def test_a_step_in_each_turn_is_one_pass() -> None:
    text = (
        MODEL
        + """
model = Net(Config())
optimizer = torch.optim.AdamW(model.parameters())
for i in range(1000):
    x, y = get_batch(8, 512)
    loss = model(x, y)
    loss.backward()
    optimizer.step()
"""
    )
    found = read(text)
    assert found.value(Role.ACCUMULATION) == 1
    assert found.value(Role.MICRO_BATCH) == 8
    assert found.equation is not None
    assert found.equation.factor is not None
    assert found.equation.factor.key == "rows"  # what get_batch calls it


UNKNOWN = {
    "read at run time": "B = len(open('rows.txt').read())\nT, passes = 512, 4\n",
    "decided by a condition at run time": """
B, T, passes = 8, 512, 4
if input("small? "):
    B = 4
""",
    "of a list that a loop fills": """
rows = []
for line in open("rows.txt"):
    rows.append(line)
B, T, passes = len(rows), 512, 4
""",
    "changed by a loop": "B = 1\nwhile torch.rand(1) > 0:\n    B *= 2\nT, passes = 512, 4\n",
}


ROWS = """
B, T, passes = 8, 512, 4
def get_batch(rows, width):
    batch = []
    for _ in range(rows):
        row = []
        while len(row) < width + 1:
            row.extend(tokens_of_a_document())
        batch.append(row[: width + 1])
    data = torch.tensor(batch, dtype=torch.long)
    return data[:, :-1], data[:, 1:]
"""


def test_a_batch_of_lists_that_loops_fill_has_its_size() -> None:
    found = read(script(ROWS))
    assert found.value(Role.MICRO_BATCH) == 8
    assert found.value(Role.CONTEXT) == 512


def test_a_list_that_is_filled_on_a_condition_has_no_known_size() -> None:
    on_condition = "        if len(row) > random_length():\n            batch.append(row)\n"
    found = read(script(ROWS.replace("        batch.append(row[: width + 1])\n", on_condition)))
    assert isinstance(found.roles[Role.MICRO_BATCH], NotKnown)


def test_a_model_of_a_checkpoint_or_a_new_one_takes_the_batch_that_it_is_given() -> None:
    either = """
def loaded(path):
    saved = torch.load(path)
    model = Net(Config(**saved["config"]))
    model.load_state_dict(saved["model"])
    return model, saved

if os.path.exists("out/last.pt") and os.listdir("out"):
    model, saved = loaded("out/last.pt")
else:
    model = Net(Config(seq_len=T))
"""
    text = script(PLAIN).replace("model = Net(Config(seq_len=T))\n", either)
    found = read(text)
    sizes = [found.value(each) for each in (Role.MICRO_BATCH, Role.CONTEXT, Role.ACCUMULATION)]
    assert sizes == [8, 512, 4]
    other = text.replace('Net(Config(**saved["config"]))', 'Config(**saved["config"])')
    assert isinstance(read(other).roles[Role.MICRO_BATCH], NotKnown)


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_only_a_run_tells_is_not_known_and_has_its_line(name: str) -> None:
    found = read(script(UNKNOWN[name]))
    micro_batch = found.roles[Role.MICRO_BATCH]
    assert isinstance(micro_batch, NotKnown)
    assert micro_batch.line > 0
    assert found.equation is None


def test_derived_sizes_say_how_they_came_about() -> None:
    settings = """
B, T, passes = 8, 512, 4
DEPTH, ASPECT, HEAD = 9, 57, 128
width = ((DEPTH * ASPECT + HEAD - 1) // HEAD) * HEAD
"""
    text = script(settings).replace(
        "Config(seq_len=T)", "Config(seq_len=T, dim=width, depth=DEPTH, heads=width // HEAD)"
    )
    found = read(text)
    width = found.roles[Role.WIDTH]
    assert not isinstance(width, NotKnown)
    assert width.value == 640
    assert describe(width) == "(DEPTH * ASPECT + HEAD - 1) // HEAD * HEAD"


@pytest.mark.parametrize("late", [True, False])
def test_a_gradient_sync_behind_the_forward_is_late(late: bool) -> None:
    sync = "        model.require_backward_grad_sync = micro_step == passes - 1\n"
    call = "        with torch.autocast"
    back = "        (loss / passes).backward()"
    before = back if late else call
    text = script(PLAIN).replace(before, sync + before)
    found = read(text)
    assert (found.late_sync is not None) is late
    if found.late_sync is not None:
        line = text.split("\n")[found.late_sync.assignment.line - 1]
        assert "require_backward_grad_sync" in line


def test_the_batch_of_an_evaluation_is_found() -> None:
    text = script(PLAIN).replace(
        "    optimizer.zero_grad()\n",
        "    with torch.no_grad():\n        xv, yv = get_batch(16, T)\n        model(xv, yv)\n"
        "    optimizer.zero_grad()\n",
        1,
    )
    found = read(text)
    assert found.value(Role.EVALUATION) == 16
    assert found.value(Role.MICRO_BATCH) == 8


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x = 1",
        "while True:\n    loss.backward()",
        "def f(): f()\nf()",
        "import train",
        "a = [*a]",
    ],
)
def test_any_script_is_read_to_an_end(text: str) -> None:
    assert read(text).equation is None


@pytest.mark.parametrize(("otherwise", "passes"), [("optimizer.step()", 1), ("pass", None)])
def test_a_step_whichever_way_is_gone_is_one_pass(otherwise: str, passes: int | None) -> None:
    head, _, _ = script("B, T, passes = 8, 64, 1").partition("for step")
    loop = f"""
for step in range(1000):
    x, y = get_batch(B, T)
    loss = model(x, y)
    loss.backward()
    if unheard(optimizer):
        optimizer.step()
    else:
        {otherwise}
"""
    assert read(f"from package import unheard\n{head}{loop}").value(Role.ACCUMULATION) == passes


@pytest.mark.parametrize(("device", "rows"), [("'cuda:0'", 8), ("type='cpu'", 2)])
def test_what_depends_on_the_type_of_a_device_is_known(device: str, rows: int) -> None:
    settings = f"""
device = torch.device({device})
if device.type == "cuda":
    B = 8
else:
    B = 2
T, passes = 64, 1
"""
    assert read(script(settings)).value(Role.MICRO_BATCH) == rows


def test_passes_that_each_turn_works_out_anew_are_not_known() -> None:
    """Not those of the first turn."""
    loop = """
scale, every = 1.0, 2
for step in range(1000):
    x, y = get_batch(B, T)
    loss = model(x, y)
    loss.backward()
    if step % every == 0:
        optimizer.step()
        {changes}
"""
    head, _, _ = script("B, T, passes = 8, 64, 1").partition("for step")
    anew = "scale *= 2\n        base, rest = divmod(scale, 1)\n        every = max(1, int(base))"
    known = read(head + loop.replace("{changes}", "last = every"))
    assert known.value(Role.ACCUMULATION) == 2
    changed = read(head + loop.replace("{changes}", anew))
    assert changed.value(Role.ACCUMULATION) is None
    assert "changes with each turn of a loop" in str(changed.roles[Role.ACCUMULATION])
