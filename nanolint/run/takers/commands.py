"""Commands in a text of any kind: a launcher with a script and its words.

A shell script, a README, a Makefile, a comment, a list in a Python program: whoever launches a run
writes its script and its words in a row. What only a run completes is marked ``OPEN``.
nanolint.launches follows scripts; here a text is searched, and not understood.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from nanolint.frozen import dataclass
from nanolint.regex import lazily
from nanolint.source.python import expression_tree

if TYPE_CHECKING:
    from collections.abc import Iterator

OPEN = "\1"  # stands for what only a run knows: a variable, an f-string's field, a glob
ALL = "\2"  # stands for "$@": what whoever starts the script adds
SCRIPT = ".py"
MOST_BEFORE = 300  # characters between the bracket of a list and its launcher
MOST_IN_LIST = 2_000  # characters after it, up to its script
MOST_ON_LINE = 1 << 14  # characters of a command; what is longer is data

# Some of these stand in every command, and in every list of one.
_STARTS = ("--", "python", "torchrun", "accelerate", "deepspeed", "srun", "mpi", "uv ")
_LISTS = ("sys.executable", *(f"{q}{word}" for q in "\"'" for word in _STARTS[1:5]))
# Texts in which "#" and "`" are not a shell's.
_PROSE = (".py", ".md", ".markdown", ".rst", ".txt", ".html", ".ipynb", ".json", ".tex", ".org")
_CONTINUED = {".ps1": "`", ".bat": "^", ".cmd": "^"}  # by what a line goes on, if not by "\\"
_JOINED = r"[ \t]*(?:\\n\",)?[ \t]*\r?\n[ \t]*(?:#[ \t]*)?\"?"
_FORMATTED = lazily(r"\{(?:[^{}\n\":]|:(?! ))*\}")  # a field of an f-string
_PREFIX = lazily(r"\b[fFrR]{1,2}(?=[\"'])")
_ALL = lazily(r"\$\{?[@*](?::\d+)?\}?|%\*|\$argv\b|[$@]args\b")
# A value in quotes: as it is, if it is a word.
_VALUE = lazily(r"(--[\w.-]+=)(?:[\"']([\w./-]*)[\"']|(\"[^\"\n]*\"|'[^'\n]*'))")
_EXPANSION = lazily(
    r"\$\{\{.*?\}\}|\{\{.*?\}\}|\$\(\(.*?\)\)|\$\$?\([^()]*\)|\$?\$\{[^{}]*\}|\$\$?[A-Za-z_]\w*"
    r"|\$[\d?#<]|%\w+%|%%?\w\b|\{[^{}\s\"':]*\}|(?<=[\w/])<[\w -]+>|<[\w -]+>(?=\.py)"
)
_NESTED = lazily(r"\$\(([^()]*\.py[^()]*)\)|`([^`]*(?:\.py| -m )[^`]*)`")  # commands in a command
_SUBSTITUTION = lazily(r"`[^`]*`")
_TAG = lazily(r"</?[A-Za-z][^<>\n]{0,80}>")
_LOG = lazily(  # where output goes
    r"(?:\d|&)?[<>]{1,2}&?[ \t]*"
    r"(?![^\s;|&]*\.py\b|\S*(?:python|torchrun|accelerate|deepspeed|srun|mpirun))[^\s;|&()]*"
)
_COMMENT = lazily(r"(?:^|(?<=\s))#")
_PLAIN = {ord(sign): " " for sign in "[],<>"} | dict.fromkeys(map(ord, "\"'`"))
_COMMANDS = lazily(r"&&|\|\||[;|&()]")
_NAMED = lazily(r"^\s*(?:export\s+)?[A-Za-z_]\w*\s*[=:]\s*(?=\S*\.py\s)")  # ARGS="config/a.py ...
_LAUNCHER = lazily(
    r"(?:^|[/\\=!@:$%-])(?:i?python[\d.]*w?|torchrun|accelerate|deepspeed|srun|mpirun|mpiexec|uv)"
    r"(?:\.exe)?$"
)
_NO_MODULES = ("torch.distributed", "accelerate.", "deepspeed.")
_OPTION = lazily(r"--?([A-Za-z_\1][\w\1.-]*)(?:=(.*))?$", re.DOTALL)
_SETTING = lazily(r"([A-Za-z_]\w*)=(.*)$", re.DOTALL)
# Each begins with letters that stand for themselves, so it is found fast.
_NAMES = lazily(r"\.py(?!\w)")
_MODULES = lazily(r"-m (?<= -m )")
_BRACKET = lazily(r"[()\[\]]")
_GIVEN = lazily(r"(\w+)[ \t]*=[ \t]*$")
_FUNCTION = lazily(r"^[ \t]*(?:async )?def ", re.MULTILINE)
_LISTED = lazily(r"[\"'](?:python[\d.]*|torchrun|accelerate|deepspeed)[\"']|sys\.executable")
_SEVERAL = lazily(r"\b(?:torchrun|torch\.distributed|srun|mpirun|mpiexec|accelerate|deepspeed)\b")
_PROCESSES = lazily(r"--(?:nproc[-_]per[-_]node|num_processes)[=\s](\d+)(?!\S)")
_NODES = lazily(r"--(?:nnodes|num_machines)[=\s](\d+)(?!\S)")


@dataclass(frozen=True, slots=True)
class Command:
    """A launcher with a script and its words, on the lines from ``row`` to ``last_row``.

    ``script`` is a path, without ``.py`` for a module; None if the words may follow any.
    ``before`` is what stands before it.
    """

    row: int
    last_row: int
    script: str | None
    words: tuple[str, ...]
    before: str = ""

    @property
    def is_shared(self) -> bool:
        """Whether several processes share the run."""
        return _SEVERAL.search(self.before) is not None

    @property
    def world_size(self) -> int | None:
        """How many processes share the run; None if only a run knows."""
        processes, nodes = _PROCESSES.search(self.before), _NODES.search(self.before)
        if processes is None or ("nnodes" in self.before and nodes is None):
            return None
        return int(processes[1]) * (int(nodes[1]) if nodes else 1)


def option(word: str) -> tuple[str, str | None] | None:
    """Key and value of ``--key=value``, ``key=value`` and ``--key``; None for any other word."""
    match = _OPTION.match(word) or _SETTING.match(word)
    return None if match is None else (match[1].replace("-", "_"), match[2])


def commands_in(text: str, name: str) -> tuple[Command, ...]:
    """The commands of the file called ``name``."""
    if SCRIPT not in text and not _MODULES.search(text):
        return ()
    is_python = name.endswith(SCRIPT)
    suffix = name.lower()[name.rfind(".") :] if "." in name else ""
    sign = _CONTINUED.get(suffix, "\\")
    joined = re.sub(re.escape(sign) + _JOINED, "\0", text)
    found = list(_on_lines(joined, is_prose=suffix in _PROSE, formats=is_python))
    if is_python and _has(text, ('.py"', ".py'")) and _has(text, _LISTS):
        found += _listed(text)
    return tuple(found)


def _has(text: str, marks: tuple[str, ...]) -> bool:
    for mark in marks:  # noqa: SIM110 - any() takes three times as long, for each line
        if mark in text:
            return True
    return False


def _on_lines(text: str, *, is_prose: bool, formats: bool) -> Iterator[Command]:
    row, at, end = 1, 0, -1
    names = [match.start() for pattern in (_NAMES, _MODULES) for match in pattern.finditer(text)]
    for name in sorted(names):
        if name < end:
            continue  # on the same line
        start, end = text.rfind("\n", 0, name) + 1, text.find("\n", name)
        end = len(text) if end < 0 else end
        row += text.count("\n", at, start) + text.count("\0", at, start)
        at = start
        line = text[start:end]
        if len(line) > MOST_ON_LINE or not _has(line, _STARTS):
            continue
        last = row + line.count("\0")
        line = line.replace("\0", " ")
        parts = _COMMENT.split(line) if "#" in line else [line]
        for part in parts if is_prose else parts[:1]:
            for words in _segments(part, formats=formats):
                command = command_of(words, row, last)
                if command is not None:
                    yield command


def _segments(line: str, *, formats: bool) -> Iterator[list[str]]:
    """The words of each command of a line, without quotes and brackets."""
    if "`" in line or "$(" in line:
        line = _NESTED.sub(lambda match: f" ; {match[1] or match[2]} ; ", line)
        line = _SUBSTITUTION.sub(OPEN, line)
    if formats:
        line = _FORMATTED.sub(OPEN, _PREFIX.sub("", line))
    if '="' in line or "='" in line:
        line = _VALUE.sub(lambda match: f"{match[1]}{OPEN if match[3] else match[2]}", line)
    line = _opened(line)
    if "<" in line or ">" in line:
        line = _LOG.sub(" ", _TAG.sub(" ", line))
    line = line.replace("\\n", " ").replace('\\"', "").translate(_PLAIN)
    for part in _COMMANDS.split(line):
        if (SCRIPT in part or " -m " in part) and _has(part, _STARTS):
            yield [_word(each) for each in _NAMED.sub("", part).split()]


def _opened(text: str) -> str:
    """``text`` with a mark for all that only a run completes."""
    if any(sign in text for sign in "$%{<@"):
        text = _EXPANSION.sub(OPEN, _ALL.sub(ALL, text))
    return text


def argument(text: str) -> str:
    """A word that a reader of scripts gives, which leaves what is not known as it is written."""
    return text if text.startswith("-") and "$" not in text else _word(_opened(text))


def _word(word: str) -> str:
    """A word of a text as a program would get it."""
    if word.isalnum():
        return word
    if "{" not in word:
        word = word.rstrip("}")
    if not word.startswith("."):
        word = word.rstrip(".:;!?")
    word = word.removeprefix("**").removesuffix("**")
    if word != ALL:
        word = word.replace(ALL, OPEN)
    return word if word.startswith("-") else word.replace("*", OPEN).replace("?", OPEN)


def command_of(words: list[str], row: int, last: int) -> Command | None:
    """The command that ``words`` are; None if they are none.

    Without a launcher its script has to stand right before its options: what else starts it is
    said elsewhere.
    """
    start = next((at for at, word in enumerate(words) if _LAUNCHER.search(word)), None)
    first = 0 if start is None else start + 1
    at = next((at for at in range(first, len(words)) if is_script(words[at])), None)
    if start is not None and "-m" in words[first:at]:
        module = words.index("-m", first) + 1
        if module < len(words) and not words[module].startswith(_NO_MODULES):
            script = words[module].replace(".", "/")
            return Command(row, last, script, tuple(words[module + 1 :]), " ".join(words[:module]))
    if at is None:
        return None
    rest = words[at + 1 :]
    if start is None:
        rest = [word for word in rest if word not in ("args", "arguments", "parameters")]
        behind = next((word for word in rest if not is_script(word) and word != OPEN), "")
        if not behind.startswith("--"):
            return None
    return Command(row, last, words[at], tuple(rest), " ".join(words[:at]))


def is_script(word: str) -> bool:
    """Whether a word is the path of a Python file."""
    return word.endswith(SCRIPT) and not word.startswith("-") and "=" not in word


# Lists of a Python program: subprocess.run(["python", "train.py", config, "--batch_size=4"])


def _listed(text: str) -> Iterator[Command]:
    seen = set()
    for match in _LISTED.finditer(text):
        if text.find(SCRIPT, max(0, match.start() - MOST_BEFORE), match.end() + MOST_IN_LIST) < 0:
            continue
        start = _opening(text, match.start())
        if start is None or start in seen:
            continue
        seen.add(start)
        end = _closing(text, start)
        words = [*_words_in(text[start:end]), *_added(text, start, end)]
        row = 1 + text.count("\n", 0, start)
        command = command_of(words, row, row + text.count("\n", start, end))
        if command is not None:
            yield command


def _added(text: str, start: int, end: int) -> Iterator[str]:
    """The words that are added to a list: by ``+``, and by ``+=``, ``append`` and ``extend`` on
    the name that it is given, up to the end of the function."""
    if text[end : end + 20].lstrip().startswith("+"):
        yield OPEN
    name = _GIVEN.search(text, max(0, start - MOST_BEFORE), start)
    if name is None:
        return
    stop = _FUNCTION.search(text, end)
    adds = re.compile(rf"\b{name[1]}(?:\s*\+=|\.(?:append|extend)(?=\())\s*")
    for match in adds.finditer(text, end, stop.start() if stop else len(text)):
        first = match.end()
        closed = text[first : first + 1] in "[("
        last = _closing(text, first) if closed else text.find("\n", first)
        yield from _words_in(text[first:last])


def _opening(text: str, at: int) -> int | None:
    """Where the bracket around the character at ``at`` opens."""
    depth = 0
    for each in range(at - 1, max(-1, at - MOST_BEFORE), -1):
        depth += (text[each] in ")]") - (text[each] in "([")
        if depth < 0:
            return each
    return None


def _closing(text: str, start: int) -> int:
    """Behind the bracket that closes the one at ``start``."""
    depth = 0
    for match in _BRACKET.finditer(text, start, start + MOST_ON_LINE):
        depth += 1 if match[0] in "([" else -1
        if depth == 0:
            return match.end()
    return start


def _words_in(expression: str) -> list[str]:
    try:
        return list(_words(expression_tree(expression.strip())))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return [OPEN]


def _words(node: ast.expr) -> Iterator[str]:
    """The words that an expression of a list of words is, or a text of several."""
    if isinstance(node, (ast.List, ast.Tuple)):
        for each in node.elts:
            yield from _words(each)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        sides = list(_words(node.left)), list(_words(node.right))
        if isinstance(node.left, ast.Constant) or isinstance(node.right, ast.Constant):
            yield "".join(word for side in sides for word in side)
        else:
            yield from (word for side in sides for word in side)
    elif isinstance(node, ast.Constant):
        yield from str(node.value).split()
    elif isinstance(node, ast.JoinedStr):
        parts = (p.value if isinstance(p, ast.Constant) else OPEN for p in node.values)
        yield from "".join(map(str, parts)).split()
    else:
        yield "python" if ast.unparse(node) == "sys.executable" else OPEN
