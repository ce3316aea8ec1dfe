"""hydra, if the launch line changes no setting. Read, never run.

``composed`` gives the settings next to the file of a function, ``typed`` the words of the
launch line; ``unheard`` makes a value unknown, and ``assumed`` tells of a doubt.
"""

import importlib
import os
from functools import partial

from omegaconf import DictConfig, made

NOT_SAID = object()


def main(config_path=NOT_SAID, config_name=None, version_base=NOT_SAID):
    def settings(function):
        if typed():
            return unheard("the arguments of the launch line for hydra")
        if version_base is NOT_SAID or version_base in ("1.0", "1.1"):
            assumed("the files are there in the folder of its own that hydra starts the script in")
        is_file = config_name is None and isinstance(config_path, str)
        if is_file and config_path.endswith(".yml"):
            return unheard("hydra before 1.0, which takes config_path for a file, is not followed")
        if is_file and config_path.endswith(".yaml"):
            assumed("assuming hydra before 1.0, whose config_path is a file")
            return made(
                composed(function, os.path.dirname(config_path), os.path.basename(config_path))
            )
        if config_name is None:
            return DictConfig()
        if config_path is NOT_SAID:
            return unheard("hydra finds its settings by itself")
        return made(composed(function, config_path, config_name))

    def decorate(function):
        def run(cfg=None):
            if cfg is not None:
                return function(cfg)
            return function(settings(function))

        return run

    return decorate


def instantiate(config, *args, **kwargs):
    if config is None:
        return None
    for name in ("_args_", "_convert_", "_recursive_"):
        if name in config or name in kwargs:
            return unheard("an object that hydra instantiates")
    given = {name: inner(value) for name, value in config.items() if name[0] != "_"}
    module, _, name = config["_target_"].rpartition(".")
    target = getattr(importlib.import_module(module), name)
    if config.get("_partial_", False):
        return partial(target, *args, **(given | kwargs))
    return target(*args, **(given | kwargs))


def inner(value):
    if isinstance(value, DictConfig):
        if "_target_" in value:
            return instantiate(value)
        return DictConfig({name: inner(each) for name, each in value.items()})
    if isinstance(value, list):
        return [inner(each) for each in value]
    return value


call = instantiate


def get_original_cwd():
    return os.getcwd()


def to_absolute_path(path):
    return path


class HydraConfig:
    @staticmethod
    def get():
        return unheard("hydra's own settings")

    @staticmethod
    def initialized():
        return True
