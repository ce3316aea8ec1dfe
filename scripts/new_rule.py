#!/usr/bin/env python3
"""Start a rule: ``scripts/new_rule.py NL318 short-context config``.

Writes the rule's module and page, and names it in the list of its topic. The new rule finds
contexts of fewer than 16 tokens; what to write instead has three dots.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "rules" / "nanolint_rules"

MODULE = '''"""{code}: ... in half a sentence."""

from __future__ import annotations

from nanolint.rule import Context, Finding, Findings, Need, Severity, rule

LEAST = 16  # tokens


@rule("{code}", "{name}", Severity.WARNING, needs=[Need.CONFIG])
def {module}(context: Context) -> Findings:
    """... what it looks for, in one line: the index shows it."""
    tokens = context.value("block_size")
    if not isinstance(tokens, int) or tokens >= LEAST:
        return
    yield Finding(
        message=f"block_size = {{tokens}} ... what follows from it",
        span=context.span("block_size"),
    )
'''

PAGE = """# {name} ({code})

## What it does

Reports ...

## Why is this bad?

...

## Example

```python title="config/demo.py"
block_size = 8
```

```text
```

## Use instead

```python
block_size = 256
```

## Fix safety

There is no fix: ...

## Not reported

### ... why this one is fine

```python
block_size = 64
```
"""


def main(code: str, name: str, topic: str) -> int:
    """Write the files; returns the exit status."""
    module = name.replace("-", "_")
    folder = PACKAGE / topic
    problem = _problem(code, name, folder, module)
    if problem is not None:
        print(f"new_rule.py: {problem}", file=sys.stderr)
        return 2
    fields = {"code": code, "name": name, "module": module}
    (folder / f"{module}.py").write_text(MODULE.format(**fields), encoding="utf-8")
    (folder / f"{module}.md").write_text(PAGE.format(**fields), encoding="utf-8")
    listing = PACKAGE / "__init__.py"
    text = listing.read_text(encoding="utf-8")
    block = re.compile(rf'("{topic}": \(\n(?:        "\w+",\n)*)|("{topic}": \([^\n]*)\),\n')
    added = block.sub(
        lambda match: (
            f'{match[1]}        "{module}",\n' if match[1] else f'{match[2]}, "{module}"),\n'
        ),
        text,
        count=1,
    )
    listing.write_text(added, encoding="utf-8")
    for path in (folder / f"{module}.py", folder / f"{module}.md", listing):
        print(path.relative_to(ROOT))
    return 0


def _problem(code: str, name: str, folder: Path, module: str) -> str | None:
    if not re.fullmatch(r"NL\d{3}", code):
        return f"a code is NL and three digits, found {code}"
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name):
        return f"a name is words with hyphens between them, found {name}"
    if not folder.is_dir():
        topics = sorted(each.parent.name for each in PACKAGE.glob("*/__init__.py"))
        return f"no topic {folder.name}; there are {', '.join(topics)}"
    if any(code in page.read_text(encoding="utf-8") for page in PACKAGE.glob("*/*.py")):
        return f"{code} is taken"
    return f"{module}.py exists" if (folder / f"{module}.py").exists() else None


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("usage: scripts/new_rule.py CODE NAME TOPIC")
    sys.exit(main(*sys.argv[1:]))
