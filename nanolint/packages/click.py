"""click: a function whose options are its decorators. The interpreter reads this text.

``ArgumentParser`` takes the launch line's flags; ``untold`` makes a value that is not known.
"""


class Command:
    def __init__(self, function):
        self.function = function
        self.click_parameters = getattr(function, "click_parameters", [])

    def __call__(self, *args, **kwargs):
        if args or kwargs:
            return self.function(*args, **kwargs)
        parser = ArgumentParser()
        given = {}
        for names, settings in self.click_parameters:
            flags = [each for name in names for each in name.split("/") if each.startswith("-")]
            bare = [each for each in names if not each.startswith("-")]
            if not flags:
                given[bare[0].replace("-", "_")] = settings.get("default", untold(bare[0]))
                continue
            self.add(parser, flags, bare, settings)
        found = parser.parse_args()
        for options in parser.flags.values():
            given[options["dest"]] = getattr(found, options["dest"])
        return self.function(**given)

    def add(self, parser, flags, bare, settings):
        default = settings.get("default")
        kind = settings.get("type")
        if kind is None and default is not None:
            kind = type(default)
        wanted = {"default": default}
        if kind in (int, float, str, bool):
            wanted["type"] = kind
        if bare:
            wanted["dest"] = bare[0]
        if len(flags) > 1 and flags[1].startswith("--no-"):
            wanted["dest"] = wanted.get("dest", flags[0].lstrip("-").replace("-", "_"))
            off = dict(wanted)
            off["action"] = "store_false"
            parser.add_argument(flags[1], **off)
            flags = flags[:1]
            wanted["action"] = "store_true"
        elif settings.get("is_flag"):
            wanted["action"] = "store_true"
        parser.add_argument(*flags, **wanted)


def option(*names, **settings):
    def add(function):
        listed = getattr(function, "click_parameters", None)
        if listed is None:
            listed = []
            function.click_parameters = listed
        listed.append((names, settings))
        return function

    return add


argument = option


def command(*given, **settings):
    if given and not isinstance(given[0], str):
        return Command(given[0])
    return Command
