"""``nanolint check``: judge files, and fix them if asked to."""

from __future__ import annotations

from nanolint.cli.launch import read_launch, read_sets, split_launch, starts_script
from nanolint.cli.options import check_parser
from nanolint.cli.parser import UsageError
from nanolint.settings.formats import FOR_PROGRAMS

TYPE_CHECKING = False  # `typing` takes longer to import than `--help` takes
if TYPE_CHECKING:
    from nanolint.cli.parser import Parser
    from nanolint.cli.streams import Streams

DESCRIPTION = """\
Check whether a GPT training run fits on its GPU, and find other mistakes, from
its script, config and launch line. It runs none of your code and needs no GPU.

  nanolint config/train_gpt2.py --gpu rtx-4070
  nanolint --fix config/*.py
  nanolint -- config/train_gpt2.py --batch_size=32 --compile=False"""

EPILOG = """\
commands, as the first argument:
  check      find mistakes in files, and fix them (the default)
  explain    show where the memory of a run goes
  fit        list the largest micro-batch that fits each GPU
  launch     check a launch line: nanolint launch -- torchrun ... train.py x.py
  trace      run a script on your own PyTorch without a card, to see its memory
  rule       show what a rule reports, and why
  gpus       list the cards that nanolint knows by name
  settings   show the settings in force, and where each comes from
  version    print the versions that a bug report needs
  server     start the language server for an editor
  completion print the completion for bash, zsh or fish

exit status:
  0  clean, or everything is fixed; also a run without a number
  1  errors or warnings remain; a doubted run that may not fit is a warning.
     --fail-on unknown: a run without a number, too
  2  wrong usage, or input that cannot be read"""

USAGE = "[check] [OPTION]... [FILE|DIR|-]..."
STDIN = "-"


def parser() -> Parser:
    """The options of the command."""
    return check_parser("nanolint", USAGE, DESCRIPTION, EPILOG)


def run(arguments: list[str], streams: Streams) -> int:
    """Judge what ``arguments`` name; returns the exit status."""
    given, words = split_launch(arguments)
    options = parser().parse(given, streams)
    if words and not options.files and starts_script(words):
        from nanolint.cli import launch_line

        return launch_line.run(arguments, streams)
    overrides, launch = read_sets(options.set), read_launch(words, options.files)
    paths = options.files or [str(path) for path in launch.files]
    if STDIN in paths and len(paths) > 1:
        raise UsageError("- (standard input) cannot be checked together with files")
    if options.add_ignore and (options.fix or options.diff or paths == [STDIN]):
        raise UsageError("--add-ignore needs files, and cannot be combined with --fix or --diff")
    if options.diff and options.output_format in FOR_PROGRAMS:
        raise UsageError(
            f"--diff prints a diff, not {options.output_format}; give only one of them"
        )
    if options.watch and (paths == [STDIN] or options.fix or options.output_file):
        raise UsageError("--watch needs files, and cannot be combined with --fix or --output-file")
    if options.stdin_filename is not None and paths != [STDIN]:
        raise UsageError("--stdin-filename needs - (standard input)")
    # Only now is it certain that anything will be judged; what follows imports the engine.
    from nanolint.cli import session
    from nanolint.cli.configuration import Configuration

    paths = paths or ["."]
    if options.show_files:
        from nanolint.cli.show_files import show_files

        return show_files(paths, Configuration(options, overrides, launch), streams)

    def check() -> int:
        configuration = Configuration(options, overrides, launch)
        if paths == [STDIN]:
            return session.check_stdin(configuration, streams)
        return session.check_files(paths, configuration, streams)

    if options.watch:
        from nanolint.cli.watch import watch

        watch(check, streams)
    return check()
