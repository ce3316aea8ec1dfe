"""OmegaConf. Read, never run.

``typed`` is what the launch line gives, as ``name=value``; ``loaded`` what a file of settings
holds, ``parsed`` what a text of YAML does; ``unheard`` makes a value unknown. So is a value that refers to others (``${model.width}``)
for who does not ask the settings that it stands in.
"""

REFERENCE = "${"


def made(value):
    if isinstance(value, dict) and not isinstance(value, DictConfig):
        return DictConfig(value)
    if isinstance(value, (list, tuple)):
        return [made(each) for each in value]
    if isinstance(value, str) and REFERENCE in value:
        return unheard("the target of a setting's reference")
    return value


def written(value):
    if isinstance(value, DictConfig):
        return {name: written(value._written(name)) for name in value}
    if isinstance(value, dict):
        return {name: written(each) for name, each in value.items()}
    if isinstance(value, list):
        return [written(each) for each in value]
    return value


def contained(value, resolve):
    if isinstance(value, DictConfig):
        kept = value.items() if resolve else value._kept()
        return {name: contained(each, resolve) for name, each in kept}
    if isinstance(value, dict):
        return {name: contained(each, resolve) for name, each in value.items()}
    if isinstance(value, list):
        return [contained(each, resolve) for each in value]
    return value


class DictConfig(dict):
    def __init__(self, content=None, *args, **kwargs):
        super().__init__()
        object.__setattr__(self, "_references", {})
        object.__setattr__(self, "_above", None)
        for name, value in (content or {}).items():
            self[name] = value

    def __setitem__(self, name, value):
        self._references.pop(name, None)
        if isinstance(value, str) and REFERENCE in value:
            self._references[name] = value
        value = made(value)
        if isinstance(value, DictConfig):
            object.__setattr__(value, "_above", self)
        super().update({name: value})

    def __getitem__(self, name):
        if name in self._references:
            return self._referred(self._references[name])
        if name not in self:
            raise KeyError(name)
        return super().get(name)

    def __getattr__(self, name):
        if name in self:
            return self[name]
        raise AttributeError(name)

    def __setattr__(self, name, value):
        self[name] = value

    def get(self, name, default=None):
        return self[name] if name in self else default

    def items(self):
        return [(name, self[name]) for name in self]

    def _kept(self):
        return super().items()

    def values(self):
        return [self[name] for name in self]

    def _written(self, name):
        return self._references[name] if name in self._references else super().get(name)

    def _referred(self, text):
        path = text[len(REFERENCE) : -1]
        if text != REFERENCE + path + "}" or not path.replace("_", "").replace(".", "").isalnum():
            return unheard("the target of a setting's reference")
        node = self
        while node._above is not None:
            node = node._above
        for name in path.split("."):
            if not isinstance(node, DictConfig) or name not in node:
                return unheard("the target of a setting's reference")
            node = node[name]
        return node

    def merge_with(self, other):
        for name, value in written(other).items():
            if isinstance(value, dict) and isinstance(self.get(name), dict):
                self[name].merge_with(value)
            else:
                self[name] = value


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
        merged = made(written(first))
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
            node[own] = made(parsed(value))
        return found

    @staticmethod
    def to_container(config, resolve=False, *args, **kwargs):
        return contained(config, resolve)

    @staticmethod
    def to_object(config):
        return contained(config, True)

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
