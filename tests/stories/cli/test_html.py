"""``explain --html``: one page that needs nothing else, in a real browser."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.command import nanolint
from tests.support.sizes import MODEL

CONFIG = "batch_size = 16\ngradient_accumulation_steps = 32\nblock_size = 1024\n" + MODEL

# What somebody does with the mouse; the answer is put where --dump-dom shows it.
MOUSE = """<script>
const canvas = document.querySelector("canvas"), box = canvas.getBoundingClientRect();
const tensor = document.getElementById("tensor");
const at = (x, y) => canvas.dispatchEvent(new PointerEvent("pointermove",
  { clientX: box.left + x * box.width, clientY: box.top + y * box.height }));
const heard = [tensor.innerText];
at(0.5, 0.9); heard.push(tensor.innerText);
document.querySelector("[data-view=peak]").click();
at(0.5, 0.9); heard.push(tensor.innerText);
document.body.dataset.heard = heard.join("|");
</script>"""


def page(gpu: str, name: str = "config.py", text: str = CONFIG) -> str:
    Path(name).write_text(text, encoding="utf-8")
    outcome = nanolint("explain", name, f"--gpu={gpu}", "--html=out.html")
    assert (outcome.status, outcome.out) == (0, "")
    assert "Wrote out.html" in outcome.err
    return Path("out.html").read_text(encoding="utf-8")


def test_the_page_says_what_explain_says() -> None:
    html = page("rtx-3060-12gb")
    assert "out of memory" in html
    assert "What would help" in html
    assert "batch_size = 8, gradient_accumulation_steps = 64" in html
    assert "CUDA out of memory. Tried to allocate" in html


def test_a_run_that_fits_has_no_ways_out() -> None:
    html = page("a100-40gb")
    assert "<b>fits</b>" in html
    assert "What would help" not in html


def test_it_asks_for_no_other_file_and_no_network() -> None:
    html = page("rtx-3060-12gb")
    assert not re.findall(r"https?://|<link|<img|\bsrc=|@import|\bfetch\(|\bimport\(", html)


def test_a_file_called_like_markup_is_text() -> None:
    html = page("a100-40gb", name="<b onclick=x>.py")
    assert "<b onclick" not in html
    assert "&lt;b onclick=x&gt;.py" in html


@pytest.mark.parametrize(
    ("option", "why"),
    [
        ("--html=out.txt", "expected a name that ends in .html or .htm"),
        ("--html=missing/out.html", "no such file or directory"),
        ("--snapshot=missing/out.pickle", "no such file or directory"),
    ],
)
def test_a_place_that_cannot_be_written_is_one_line(option: str, why: str) -> None:
    Path("config.py").write_text(CONFIG, encoding="utf-8")
    outcome = nanolint("explain", "config.py", "--gpu=a100-40gb", option)
    assert outcome.status == 2
    assert why in outcome.err
    assert len(outcome.err.splitlines()) == 1
