"""A launch line as people paste it: ``torchrun --nproc_per_node=8 train.py config/x.py``.

Programs that people put in front of a training script are known by what they do with it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from nanolint.launches import launchers
from nanolint.launches.commands import Argument
from nanolint.launches.launch import Around, Launch, Nested, NotALaunch, Processes, UnknownScript
from nanolint.launches.launchers import task_variables
from nanolint.launches.placed import Placed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_PYTHON = re.compile(r"python(w|\d(\.\d+)?)?(\.exe)?")
_ALLOCATOR_VARIABLES = ("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF")
_FILES = ("config-file", "deepspeed-config-file")
EXPECTED = "expected torchrun, python or srun, and the training script"


def read_launch_line(
    words: Sequence[str | Argument],
    environment: Mapping[str, Argument] | None = None,
    around: Around | None = None,
) -> Launch | Nested:
    """The launch that ``words``, split as a shell does, stand for; raises NotALaunch.

    ``environment`` are variables set before; those that lead the line come on top.
    """
    given = [Argument(word) if isinstance(word, str) else word for word in words]
    return _Reader(given, dict(environment or {}), around or Around()).read()


class _Reader:
    """Works through the programs of a line, each of which starts the next."""

    def __init__(
        self, words: list[Argument], environment: dict[str, Argument], around: Around
    ) -> None:
        self._words = words
        self._environment = environment
        self._around = around
        self._batch = around.batch
        self._tasks = around.tasks  # of srun or mpirun, which set no RANK
        self._tasks_of = around.starter
        self._processes: Processes | None = None  # of a launcher that does
        self._unknown_launcher: str | None = None
        self._is_module = False
        self._script_end: int | None = None
        self._files: list[Argument] = []  # with values, that a launcher reads
        self._engines: list[str] = []  # lines about what a launcher trains with

    def read(self) -> Launch | Nested:
        script = self._find_script()
        if isinstance(script, Nested):
            return script
        allocator, remarks = self._allocator()
        remarks += (*self._engines, *launchers.unread_files(self._files, self._words))
        processes = self._processes or self._of_plain_python(remarks)
        return Launch(
            script,
            tuple(self._words),
            processes,
            allocator,
            self._environment,
            remarks=tuple(remarks),
            is_module=self._is_module,
            script_end=self._script_end,
        )

    def _find_script(self) -> Path | Nested:
        first = True
        while self._words:
            word = self._words.pop(0)
            assignment = _ASSIGNMENT.fullmatch(word.text)
            program = re.split(r"[/\\]", word.text)[-1]
            if assignment is not None:
                self._environment[assignment[1]] = word.since(assignment.start(2))
                continue
            if first and program in START_NOTHING:
                break
            found = self._start(program, word)
            if found is not None:
                return found
            if first and program not in TRANSPARENT and self._is_unknown(program):
                self._unknown_launcher = program
            first = first and program in BARE
        raise NotALaunch(EXPECTED)

    def _is_unknown(self, program: str) -> bool:
        return self._tasks is None and self._processes is None and bool(program)

    def _start(self, program: str, word: Argument) -> Path | Nested | None:
        """What ``program`` starts, where it is one that is known to."""
        if program == "srun":
            own = self._own_words()
            self._tasks = launchers.srun(own, self._batch)
            self._tasks_of = program
            self._environment |= task_variables(self._batch, own, self._tasks)
        elif program in MPI:
            self._tasks, self._tasks_of = launchers.mpi(self._own_words()), program
            self._environment |= launchers.mpi_variables(self._tasks)
        elif program in ("torchrun", "torchrun.exe"):
            return self._by_torchrun()
        elif program == "accelerate" and self._words and self._words[0].text == "launch":
            self._words.pop(0)
            return self._by_accelerate()
        elif program in ("deepspeed", "ds"):
            return self._launched(*launchers.deepspeed(self._words))
        elif program in SHELLS:
            return self._shell()
        elif program in REMOTE:
            return self._remote(program)
        elif program.endswith(SHELL_SCRIPTS) and not word.text.startswith("-"):
            self._words.insert(0, word)
            return self._script_of_its_own()
        elif _PYTHON.fullmatch(program):
            return self._python()
        elif program.endswith(".py") and not word.text.startswith("-"):  # ./train.py
            return self._path(word)
        return None

    def _own_words(self) -> list[Argument]:
        """The words up to the next program, which belong to the launcher before them."""
        for at, word in enumerate(self._words):
            program = re.split(r"[/\\]", word.text)[-1]
            if (
                _PYTHON.fullmatch(program)
                or program in ("torchrun", "accelerate", "deepspeed", *SHELLS, *MPI)
                or (program.endswith(".py") and not word.text.startswith("-"))
            ):
                return self._words[:at]
        return list(self._words)

    def _by_torchrun(self) -> Path | None:
        return self._launched(*launchers.torchrun(self._words, self._environment))

    def _by_accelerate(self) -> Path | None:
        """accelerate, whose configuration counts where its own words do not."""
        processes, options = launchers.accelerate(self._words)
        self._engines += launchers.unread_engines(options)
        file = options.values.get("config-file")
        text = self._around.scripts(file.text) if file and file.unknown is None else None
        found = launchers.read(text) if text is not None else None
        if found is not None and processes.count is None and found.processes is not None:
            processes = Processes(found.processes)
        precision = options.values.get("mixed-precision")
        if precision is None and found is not None and found.precision is not None:
            precision = Argument(found.precision)
        variable = launchers.PRECISION_VARIABLE
        unknown = Argument(f"${variable}", "accelerate reads it from its own configuration")
        self._environment.setdefault(variable, precision or unknown)
        script = self._launched(processes, options)
        if found is not None and found.engine is None:
            self._files = [each for each in self._files if each is not file]
        return script

    def _launched(self, processes: Processes, options: launchers.Options) -> Path | None:
        """The script behind a launcher's options; None where a program follows."""
        self._processes = processes
        self._files = [options.values[name] for name in _FILES if name in options.values]
        if "no-python" in options.flags:
            return None
        if "module" in options.flags:
            return self._module()
        script = self._script()
        self._separator()
        return script

    def _separator(self) -> None:
        """Skip the ``--`` between a launcher's words and the script's."""
        if self._words and self._words[0].text == "--":
            self._named(self._words.pop(0))

    def _named(self, word: Argument) -> None:
        self._script_end = word.place.end if word.place else None

    def _script(self) -> Path:
        if not self._words:
            raise NotALaunch("the launch line ends before the training script")
        return self._path(self._words.pop(0))

    def _path(self, word: Argument) -> Path:
        if word.unknown is not None:
            raise UnknownScript(f"the script that it starts is unknown: {word.unknown}")
        if not word.text.endswith(".py"):
            raise NotALaunch(f"expected the training script, found {word.text}")
        self._named(word)
        return Path(word.text)

    def _module(self, named: Argument | None = None) -> Path:
        if named is None and not self._words:
            raise NotALaunch("the launch line ends before the module")
        word = named or self._words.pop(0)
        self._named(word)
        if named is None:
            self._separator()
        if word.unknown is not None:
            raise UnknownScript(f"the module that it starts is unknown: {word.unknown}")
        parts = word.text.split(".")
        if not all(part.isidentifier() for part in parts):
            raise NotALaunch(f"{word.text} is not the name of a module")
        self._is_module = True
        return Path(*parts).with_suffix(".py")

    def _python(self) -> Path | None:
        module = self._python_module()
        if module is None:
            return self._script()
        if module.text in TORCHRUN_MODULES:
            return self._by_torchrun()
        if module.text in ACCELERATE_MODULES:
            return self._by_accelerate()
        if module.text in DEEPSPEED_MODULES:
            return self._launched(*launchers.deepspeed(self._words))
        return self._module(module)

    def _python_module(self) -> Argument | None:
        """Skip Python's own options; returns the module that ``-m`` names."""
        while self._words and self._words[0].text.startswith("-"):
            option = self._words.pop(0)
            if option.text.startswith("--"):
                if option.text == "--check-hash-based-pycs" and self._words:
                    self._words.pop(0)
                continue
            for at, letter in enumerate(option.text[1:], 2):
                rest = option.text[at:]
                if letter == "c":
                    raise NotALaunch("python -c starts no training script")
                if letter == "m":
                    if rest:
                        return option.since(at)
                    return self._words.pop(0) if self._words else Argument("")
                if letter in "WX":
                    if not rest and self._words:
                        self._words.pop(0)
                    break
        return None

    def _shell(self) -> Nested | None:
        """``bash -c TEXT``, or a script of its own."""
        while self._words and self._words[0].text.startswith("-"):
            option = self._words.pop(0)
            if not option.text.startswith("--") and option.text.endswith("c"):
                break
        else:
            return self._script_of_its_own()
        if not self._words:
            raise NotALaunch("the launch line ends before the command")
        return self._nested(self._words.pop(0).placed)

    def _script_of_its_own(self) -> Nested:
        """``bash other.sh 8``, ``./other.sh``."""
        path, *arguments = self._words or [Argument("it", "it reads its commands from its input")]
        text = self._around.scripts(path.text) if path.unknown is None else None
        if text is None:
            raise NotALaunch(f"{path.text} is a script of its own")
        return replace(self._nested(Placed(text)), path=path.text, arguments=tuple(arguments))

    def _remote(self, program: str) -> Nested | None:
        """The command that ssh, tmux and screen run."""
        word = next((word for word in self._words if " " in word.text), None)
        if word is None:
            return None
        is_wrapped = program == "sbatch" and word.text.startswith("--wrap=")
        return self._nested((word.since(len("--wrap=")) if is_wrapped else word).placed)

    def _nested(self, text: Placed) -> Nested:
        around = replace(self._around, tasks=self._tasks, starter=self._tasks_of)
        return Nested(text, self._environment, around)

    def _of_plain_python(self, remarks: list[str]) -> Processes:
        """The processes of a run whose launcher sets no RANK: of the environment, else one."""
        world = self._environment.get("WORLD_SIZE")
        if world is not None:
            count = int(world.text) if world.text.isdecimal() and int(world.text) else None
            ranked = "RANK" in self._environment
            return Processes(count, world.unknown if count is None else None, ranked=ranked)
        if self._tasks is None:
            if self._unknown_launcher is not None:
                return Processes(
                    None, f"the command that {self._unknown_launcher} starts is unknown"
                )
            return Processes(1)
        count = self._tasks.count
        if count is not None and count > 1 and "RANK" not in self._environment:
            remarks.append(
                f"{self._tasks_of} does not set RANK and WORLD_SIZE, so a script that reads them "
                f"runs once in each task; assuming one run of {count} processes"
            )
        return self._tasks

    def _allocator(self) -> tuple[str | None, list[str]]:
        """The allocator that the environment asks for, and what of it is not replayed."""
        allocator = None
        remarks: list[str] = []
        for variable in _ALLOCATOR_VARIABLES:
            if variable not in self._environment:
                continue
            for part in self._environment[variable].text.split(","):
                key, _, value = part.strip().partition(":")
                if key == "expandable_segments":
                    allocator = "expandable" if value.strip().lower() == "true" else "default"
                elif key:
                    remarks.append(f"{variable}: {key} is not modelled")
            break
        return allocator, remarks


TORCHRUN_MODULES = ("torch.distributed.run", "torch.distributed.launch")
ACCELERATE_MODULES = ("accelerate.commands.launch",)
DEEPSPEED_MODULES = ("deepspeed.launcher.runner",)
MPI = ("mpirun", "mpiexec", "mpiexec.hydra", "orterun", "horovodrun")
SHELLS = ("sh", "bash", "zsh", "dash")
SHELL_SCRIPTS = (".sh", ".bash", ".zsh")
REMOTE = ("ssh", "tmux", "screen", "sbatch")  # whose last words another shell runs
# Programs that start the one behind them once, as it is.
TRANSPARENT = frozenset(
    [
        *("env", "nohup", "time", "exec", "sudo", "command", "builtin", "timeout", "nice"),
        *("ionice", "chrt", "taskset", "numactl", "stdbuf", "setsid", "caffeinate", "unbuffer"),
        *("uv", "uvx", "poetry", "pipenv", "pdm", "rye", "hatch", "pixi", "conda", "mamba"),
        *("micromamba", "singularity", "apptainer", "docker", "podman", "nvidia-docker"),
        *("docker-compose", "nsys", "ncu", "kernprof", "xvfb-run", "ts", "sbatch", "salloc"),
        *("watch", "script", "strace", "py-spy", "memray", "systemd-run"),
    ]
)
# Those of them behind which the next word is a program, and no option or subcommand of theirs.
BARE = frozenset({"env", "nohup", "time", "exec", "sudo", "command", "builtin", "setsid"})
# Programs that start nothing: what stands behind them is text to them.
START_NOTHING = frozenset(
    [
        *("echo", "printf", "cat", "grep", "egrep", "rg", "ls", "rm", "cp", "mv", "ln", "sed"),
        *("awk", "diff", "cmp", "wc", "head", "tail", "less", "more", "vim", "vi", "nano"),
        *("emacs", "code", "git", "chmod", "chown", "touch", "mkdir", "rsync", "scp", "tar"),
        *("zip", "unzip", "find", "test", "black", "ruff", "flake8", "isort", "mypy", "pylint"),
        *("pytest", "pip", "pip3", "wget", "curl", "kill", "pkill", "tee", "sort", "du", "df"),
        *("which", "type", "man", "nanolint"),
    ]
)
