"""What action.yml runs: `nanolint check` with the action's inputs, which come as variables.

    PATHS, GPU, ARGUMENTS, UPLOAD, WORKING_DIRECTORY     the inputs, as they were written
    GITHUB_WORKSPACE, GITHUB_OUTPUT, RUNNER_TEMP         the runner's

Inputs of several lines, quotes and patterns are understood as in a shell, but nothing in them is
run. Names in the findings are made relative to the root of the repository.
"""

from __future__ import annotations

import glob
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path, PurePosixPath
from typing import Any

FAILURE = 2
# Nothing is imported from the folder that is judged, as for this script itself.
PYTHON = (sys.executable, *(["-I"] if sys.flags.isolated else []))
YES = ("true", "yes", "on", "1")


def main() -> int:
    """Judge; returns 0, or 2 where the inputs cannot be used. The findings' status is an output."""
    inputs = os.environ
    workspace = Path(inputs.get("GITHUB_WORKSPACE", "."))
    folder = workspace / (inputs.get("WORKING_DIRECTORY") or ".")
    try:
        options = shlex.split(inputs.get("ARGUMENTS", ""), comments=True)
        names = shlex.split(inputs.get("PATHS", ""), comments=True) or ["."]
        paths = [each for name in names for each in expanded(name, folder)]
        prefix = PurePosixPath(folder.resolve().relative_to(workspace.resolve()).as_posix())
    except ValueError as error:
        print(f"::error title=nanolint::the action's inputs cannot be read: {error}")
        return FAILURE
    if inputs.get("GPU", "").strip():
        options.append(f"--gpu={inputs['GPU'].strip()}")
    command = [*PYTHON, "-m", "nanolint", "check", *options]
    upload = inputs.get("UPLOAD", "").strip().lower() in YES
    outputs = {"upload": str(upload).lower()}
    if upload:
        sarif = Path(inputs["RUNNER_TEMP"]) / "nanolint.sarif"
        form = ("--output-format=sarif", f"--output-file={sarif}")
        status = subprocess.run([*command, *form, *paths], cwd=folder, check=False).returncode
        if sarif.exists():
            log = json.loads(sarif.read_text("utf-8"))
            sarif.write_text(json.dumps(rooted(log, prefix)), "utf-8")
            outputs["sarif"] = str(sarif)
        show = [*command, "--output-format=concise", "--quiet", *paths]
        subprocess.run(show, cwd=folder, check=False, stderr=subprocess.DEVNULL)
    else:
        done = subprocess.run(
            [*command, "--output-format=github", *paths],
            cwd=folder,
            check=False,
            stdout=subprocess.PIPE,
        )
        status = done.returncode
        print(annotated(done.stdout.decode("utf-8", "replace"), prefix), end="")
    outputs["status"] = str(status)
    with Path(inputs["GITHUB_OUTPUT"]).open("a", encoding="utf-8") as file:
        file.writelines(f"{name}={value}\n" for name, value in outputs.items())
    return 0


def expanded(name: str, folder: Path) -> list[str]:
    """The files that a pattern matches below ``folder``; what matches none stands for itself."""
    if (folder / name).exists():
        return [name]
    found = glob.glob(name, root_dir=folder, recursive=True)  # noqa: PTH207 (takes absolute ones)
    return sorted(found) or [name]


def rooted(value: Any, prefix: PurePosixPath) -> Any:
    """A SARIF log with ``prefix`` before each relative address of a file."""
    if isinstance(value, list):
        return [rooted(each, prefix) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        key: (
            {**each, "uri": str(prefix / each["uri"])}
            if key == "artifactLocation" and not re.match(r"[a-z]+:|/", each["uri"])
            else rooted(each, prefix)
        )
        for key, each in value.items()
    }


def annotated(text: str, prefix: PurePosixPath) -> str:
    """Workflow commands with ``prefix`` before the names of files."""
    if str(prefix) == ".":
        return text
    start = str(prefix).replace("%", "%25").replace(",", "%2C").replace(":", "%3A")
    return re.sub(r"(?m)^(::\w+ [^:]*?\bfile=)(?!/)", rf"\g<1>{start}/", text)


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    sys.exit(main())
