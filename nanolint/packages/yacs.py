"""yacs' tree of settings, as far as values go. Read, never run."""

import yaml


class CfgNode(dict):
    def __init__(self, init_dict=None, key_list=None, new_allowed=False):
        super().__init__()
        for name, value in (init_dict or {}).items():
            self[name] = CfgNode(value) if isinstance(value, dict) else value

    def __getattr__(self, name):
        if name in self:
            return self[name]
        raise AttributeError(name)

    def __setattr__(self, name, value):
        self[name] = value

    def clone(self):
        return CfgNode(self)

    def freeze(self):
        pass

    defrost = freeze

    def is_frozen(self):
        return False

    def merge_from_other_cfg(self, other):
        for name, value in other.items():
            if isinstance(value, dict) and name in self:
                self[name].merge_from_other_cfg(value)
            else:
                self[name] = CfgNode(value) if isinstance(value, dict) else value

    def merge_from_file(self, path):
        with open(path) as file:
            self.merge_from_other_cfg(yaml.safe_load(file))

    def merge_from_list(self, listed):
        for name, value in zip(listed[::2], listed[1::2]):
            *above, own = name.split(".")
            node = self
            for each in above:
                node = node[each]
            node[own] = value
