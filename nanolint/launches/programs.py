"""The programs that people put in front of a training script, by what they do with it."""

from __future__ import annotations

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
