"""``nanolint completion``: what a shell needs to complete commands, options and their choices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.cli.check import DESCRIPTION, USAGE
from nanolint.cli.options import check_parser
from nanolint.cli.parser import Parser

if TYPE_CHECKING:
    from argparse import Action

    from nanolint.cli.streams import Streams

TEXT = "Print what makes a shell complete nanolint's commands, options and their choices."
EPILOG = """\
bash:  eval "$(nanolint completion bash)"      in ~/.bashrc
zsh:   eval "$(nanolint completion zsh)"       in ~/.zshrc, below compinit
fish:  nanolint completion fish | source       in ~/.config/fish/config.fish"""

# bash takes --option=choice for three words, zsh for one, in which the choice is to be completed
# together with what stands before it.
BASH = """\
_nanolint() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} joined=
    if [[ $word == = ]]; then
        word=
    elif [[ $before == = ]]; then
        before=${{COMP_WORDS[COMP_CWORD-2]}}
    elif [[ $word == --*=* ]]; then
        before=${{word%%=*}} joined=${{word%%=*}}= word=${{word#*=}}
    fi
    COMPREPLY=()
    case $before in
{choices}
        *) if [[ -z $joined && $word == -* ]]; then
               COMPREPLY=($(compgen -W "{options}" -- "$word"))
           elif [[ $COMP_CWORD == 1 ]]; then
               COMPREPLY=($(compgen -W "{commands}" -- "$word"))
           fi ;;
    esac
}}
complete -o default -o bashdefault -F _nanolint nanolint
"""
BASH_CHOICE = """\
        {option}) COMPREPLY=($(compgen -P "$joined" -W "{choices}" -- "$word")) ;;"""
ZSH = "autoload -Uz bashcompinit && bashcompinit\n"


def run(arguments: list[str], streams: Streams) -> int:
    """Print the completion script for a shell; returns the exit status."""
    parser = Parser("nanolint completion", "bash|zsh|fish", TEXT, EPILOG)
    parser.add_argument("shell", choices=("bash", "zsh", "fish"))
    shell = parser.parse(arguments, streams).shell
    script = _fish() if shell == "fish" else _bash()
    streams.stdout.write(ZSH + script if shell == "zsh" else script)
    return 0


def _actions() -> list[Action]:
    actions = check_parser("nanolint", USAGE, DESCRIPTION)._actions
    return [action for action in actions if action.option_strings]


def _commands() -> str:
    from nanolint.cli.main import COMMANDS

    return " ".join(COMMANDS)


def _bash() -> str:
    options = [action.option_strings[-1] for action in _actions()]
    choices = [
        BASH_CHOICE.format(option=action.option_strings[-1], choices=" ".join(action.choices))
        for action in _actions()
        if action.choices
    ]
    return BASH.format(choices="\n".join(choices), options=" ".join(options), commands=_commands())


def _fish() -> str:
    lines = [f"complete -c nanolint -n __fish_use_subcommand -a '{_commands()}'"]
    for action in _actions():
        *short, long = (option.lstrip("-") for option in action.option_strings)
        words = ["complete -c nanolint", f"-l {long}", *(f"-s {letter}" for letter in short)]
        if action.choices:
            words.append(f"-x -a '{' '.join(action.choices)}'")
        elif action.nargs != 0:
            words.append("-r")
        if action.help:
            words.append(f"-d '{action.help.replace(chr(39), '')}'")
        lines.append(" ".join(words))
    return "\n".join(lines) + "\n"
