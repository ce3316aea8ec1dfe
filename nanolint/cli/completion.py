"""``nanolint completion``: what a shell needs to complete commands, options and their values."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from nanolint.cli.parser import Parser

if TYPE_CHECKING:
    from argparse import Action
    from collections.abc import Iterable

    from nanolint.cli.streams import Streams

TEXT = "Print a shell's completion of commands, options, cards, rules and keys."
EPILOG = """\
bash:  eval "$(nanolint completion bash)"      in ~/.bashrc
zsh:   eval "$(nanolint completion zsh)"       in ~/.zshrc, below compinit
fish:  nanolint completion fish | source       in ~/.config/fish/config.fish"""

# bash takes --option=choice for three words, zsh for one, in which the choice is to be completed
# together with what stands before it.
BASH = """\
_nanolint() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}}
    local joined= command=check
    case ${{COMP_WORDS[1]}} in {commands}) command=${{COMP_WORDS[1]}} ;; esac
    if [[ $word == = ]]; then
        word=
    elif [[ $before == = ]]; then
        before=${{COMP_WORDS[COMP_CWORD-2]}}
    elif [[ $word == --*=* ]]; then
        before=${{word%%=*}} joined=${{word%%=*}}= word=${{word#*=}}
    fi
    local values= options=
    case "$command $before" in
{values}
    esac
    case $command in
{options}
    esac
    if [[ -n $values ]]; then
        COMPREPLY=($(compgen -P "$joined" -W "$values" -- "$word"))
    elif [[ -z $joined && $word == -* ]]; then
        COMPREPLY=($(compgen -W "$options" -- "$word"))
    elif [[ $COMP_CWORD == 1 ]]; then
        COMPREPLY=($(compgen -W "{words}" -- "$word"))
    else
        COMPREPLY=()
    fi
    [[ ${{COMPREPLY[0]}} == *= ]] && compopt -o nospace 2>/dev/null
    return 0
}}
complete -o default -o bashdefault -F _nanolint nanolint
"""
ZSH = "autoload -Uz bashcompinit && bashcompinit\n"


def run(arguments: list[str], streams: Streams) -> int:
    """Print the completion script for a shell; returns the exit status."""
    asked = Parser("nanolint completion", "bash|zsh|fish", TEXT, EPILOG)
    asked.add_argument("shell", choices=("bash", "zsh", "fish"))
    shell = asked.parse(arguments, streams).shell
    script = _fish() if shell == "fish" else _bash()
    streams.stdout.write(ZSH + script if shell == "zsh" else script)
    return 0


def _actions() -> dict[str, list[Action]]:
    """The options of each command that has any."""
    from nanolint.cli.main import COMMANDS

    modules = {name: import_module(module) for name, module in COMMANDS.items()}
    return {
        name: [each for each in module.parser()._actions if each.option_strings]
        for name, module in modules.items()
        if hasattr(module, "parser")
    }


def _values(action: Action) -> list[str]:
    """What may stand behind an option, where that can be listed."""
    option = action.option_strings[-1]
    if option == "--gpu":
        return ["auto", *_cards()]
    if option in ("--select", "--ignore", "--extend-select"):
        return [*_rules(), "ALL"]
    if option == "--set":
        return _keys()
    return [str(choice) for choice in action.choices or ()]


def _cards() -> list[str]:
    """The cards as one word each: ``rtx-3060-12gb``."""
    from nanolint.gpus import catalogue

    return ["-".join(gpu.name.lower().split()) for gpu in catalogue.load()]


def _rules() -> list[str]:
    from nanolint.linting import registry

    return [word for rule in registry.load().rules for word in (rule.code, rule.name)]


def _keys() -> list[str]:
    from nanolint.trainers.nanogpt.keys import KEYS

    return [f"{key}=" for key in KEYS]


def _bash() -> str:
    from nanolint.cli.main import COMMANDS

    values, options = [], []
    for command, actions in _actions().items():
        words = " ".join(action.option_strings[-1] for action in actions)
        options.append(f'        {command}) options="{words}" ;;')
        for action in actions:
            if listed := _values(action):
                place = f'"{command} {action.option_strings[-1]}"'
                values.append(f'        {place}) values="{" ".join(listed)}" ;;')
    values.append(f'        "rule rule") values="{" ".join(_rules())}" ;;')
    return BASH.format(
        commands="|".join(COMMANDS),
        values="\n".join(_together(values)),
        options="\n".join(options),
        words=" ".join(COMMANDS),
    )


def _together(cases: Iterable[str]) -> list[str]:
    """The lines of a ``case``, those with the same body as one."""
    places: dict[str, list[str]] = {}
    for case in cases:
        place, _, body = case.strip().partition(") ")
        places.setdefault(body, []).append(place)
    return [f"        {'|'.join(found)}) {body}" for body, found in places.items()]


def _fish() -> str:
    from nanolint.cli.main import COMMANDS

    lines = [f"complete -c nanolint -n __fish_use_subcommand -a '{' '.join(COMMANDS)}'"]
    others = " ".join(name for name in COMMANDS if name != "check")
    for command, actions in _actions().items():
        seen = f"__fish_seen_subcommand_from {others if command == 'check' else command}"
        when = f"'not {seen}'" if command == "check" else f"'{seen}'"
        for action in actions:
            *short, long = (option.lstrip("-") for option in action.option_strings)
            words = [f"complete -c nanolint -n {when}", f"-l {long}"]
            words += [f"-s {letter}" for letter in short]
            if listed := _values(action):
                words.append(f"-x -a '{' '.join(listed)}'")
            elif action.nargs != 0:
                words.append("-r")
            if action.help:
                words.append(f"-d '{action.help.replace(chr(39), chr(92) + chr(39))}'")
            lines.append(" ".join(words))
    rules = " ".join(_rules())
    lines.append(f"complete -c nanolint -n '__fish_seen_subcommand_from rule' -x -a '{rules}'")
    return "\n".join(lines) + "\n"
