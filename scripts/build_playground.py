"""Build the page that runs nanolint in a browser into a folder of static files.

    python scripts/build_playground.py site/playground

Python itself is Pyodide, of the release that docs/playground/package.json pins, from npm. All of it
and nanolint's sources become one script beside the page, so that the page also works when it is
opened from a folder, without a server and without a network.
"""

from __future__ import annotations

import argparse
import base64
import io
import json
import shutil
import subprocess
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "playground"
COPIED = ("index.html", "playground.css", "playground.js")
PACKAGES = (ROOT / "nanolint", ROOT / "rules" / "nanolint_rules")
LEFT_OUT = ("trace", "lsp", "__pycache__")  # need a machine, an editor


def sources() -> bytes:
    """nanolint and its rules as a zip."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for package in PACKAGES:
            for path in sorted(package.rglob("*")):
                parts = path.relative_to(package.parent).parts
                if path.is_file() and not set(parts) & set(LEFT_OUT):
                    archive.writestr(zipfile.ZipInfo("/".join(parts)), path.read_bytes())
    return buffer.getvalue()


def pyodide(work: Path) -> Path:
    """The folder of the pinned release, installed by npm below ``work``."""
    work.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(PAGE / name, work / name)
    command = ["npm", "ci", "--no-audit", "--no-fund", "--silent", "--ignore-scripts"]
    subprocess.run(command, cwd=work, check=True)
    return work / "node_modules" / "pyodide"


def runtime(folder: Path) -> str:
    """The script that holds Python, its library, nanolint, and what the page asks of it."""

    def encoded(content: bytes) -> str:
        return base64.b64encode(content).decode("ascii")

    parts = {
        "wasm": encoded((folder / "pyodide.asm.wasm").read_bytes()),
        "stdlib": encoded((folder / "python_stdlib.zip").read_bytes()),
        "module": (folder / "pyodide.asm.mjs").read_text(encoding="utf-8"),
        "lock": (folder / "pyodide-lock.json").read_text(encoding="utf-8"),
        "sources": encoded(sources()),
        "judge": (PAGE / "judge.py").read_text(encoding="utf-8"),
    }
    loader = (folder / "pyodide.js").read_text(encoding="utf-8")
    loader = loader.replace("//# sourceMappingURL=pyodide.js.map", "")
    return f"{loader}\nwindow.RUNTIME = {json.dumps(parts)};\n"


def build(out: Path) -> None:
    """Write the page, its style and its scripts to ``out``."""
    out.mkdir(parents=True, exist_ok=True)
    for name in COPIED:
        shutil.copy(PAGE / name, out / name)
    script = runtime(pyodide(ROOT / "build" / "playground"))
    (out / "runtime.js").write_text(script, encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("out", type=Path)
    build(parser.parse_args().out)
