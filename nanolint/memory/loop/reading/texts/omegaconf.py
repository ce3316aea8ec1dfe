"""OmegaConf, as far as values go that do not refer to each other. Read, never run.

``typed`` is what the launch line gives, as ``name=value``; ``loaded`` what a file of settings
holds; ``unheard`` makes a value unknown.
"""


def made(value):
    if isinstance(value, dict) and not isinstance(value, DictConfig):
        return DictConfig(value)
    if isinstance(value, (list, tuple)):
        return [made(each) for each in value]
    if isinstance(value, str) and "${" in value:
        return unheard("what a setting refers to")
    return value


def plain(value):
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, list):
        return [plain(each) for each in value]
    return value


class DictConfig(dict):
    def __init__(self, content=None, *args, **kwargs):
        super().__init__()
        for name, value in (content or {}).items():
            self[name] = made(value)

    def __getattr__(self, name):
        if name in self:
            return self[name]
        raise AttributeError(name)

    def __setattr__(self, name, value):
        self[name] = made(value)

    def merge_with(self, other):
        for name, value in other.items():
            if isinstance(value, dict) and isinstance(self.get(name), dict):
                self[name].merge_with(value)
            else:
                self[name] = made(value)


ListConfig = list


class OmegaConf:
    @staticmethod
    def load(path):
        with open(path) as file:
            return made(loaded(file))

    @staticmethod
    def create(content=None):
        return DictConfig(content) if content is None else made(content)

    @staticmethod
    def merge(first, *others):
        merged = made(plain(first))
        for each in others:
            merged.merge_with(each)
        return merged

    @staticmethod
    def from_cli(words=None):
        return OmegaConf.from_dotlist(typed() if words is None else words)

    @staticmethod
    def from_dotlist(words):
        found = DictConfig()
        for each in words:
            name, _, value = each.partition("=")
            *above, own = name.split(".")
            node = found
            for part in above:
                if part not in node:
                    node[part] = DictConfig()
                node = node[part]
            node[own] = unheard("a value of the launch line")
        return found

    @staticmethod
    def to_container(config, *args, **kwargs):
        return plain(config)

    to_object = to_container

    @staticmethod
    def is_config(value):
        return isinstance(value, DictConfig)

    @staticmethod
    def to_yaml(config, *args, **kwargs):
        return unheard("settings as a text")

    @staticmethod
    def nothing(*args, **kwargs):
        pass

    save = resolve = set_struct = set_readonly = register_new_resolver = nothing
