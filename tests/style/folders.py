"""Folders of recipes/src include only themselves and the folders below them in the picture of docs/architecture.md. A
public header with a handle (one that includes session.hpp) belongs to the folder that has a .cpp of its name; the other
public headers are vocabulary and belong to none. Headers of ZooKeeper stay in backend/zookeeper, and the public headers
include none of recipes/src."""
import collections
import pathlib
import re

from sources import files, line_of, read

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)


def layers():
    """The folders from the top to the bottom, as the picture shows them."""
    return re.findall(r"^ recipes/src/(\w+)", read("docs/architecture.md"), re.MULTILINE)


def includes(name):
    text = read(name)
    for each in INCLUDE.finditer(text):
        yield line_of(text, each.start()), each.group(1), each.group(2)


def with_handles():
    """The names of the public headers that include session.hpp, themselves or through others."""
    included = {pathlib.PurePath(name).stem: {pathlib.PurePath(path).stem for line, sign, path in includes(name)}
                for name in files("recipes/include/zkrecipes/*.hpp")}
    found = {"session"}
    while True:
        more = {stem for stem, others in included.items() if others & found} - found
        if not more:
            return found
        found |= more


def public_owners():
    """The folder that implements a public header, by the header's name."""
    owners = collections.defaultdict(set)
    for name in files("recipes/src/*.cpp"):
        path = pathlib.PurePath(name)
        owners[path.stem].add(path.parts[2])
    return {stem: owners[stem].pop() for stem in with_handles() if len(owners[stem]) == 1}


def target(sign, path, own, owners):
    """The folder to which the included file belongs, if any."""
    if path.startswith("zkrecipes/"):
        return owners.get(pathlib.PurePath(path).stem)
    if sign == '"':
        return path.split("/")[0] if "/" in path else own
    return None


def check():
    order = layers()
    owners = public_owners()
    for name in files("recipes/src/*.hpp", "recipes/src/*.cpp"):
        parts = pathlib.PurePath(name).parts
        if len(parts) < 4:
            continue  # the precompiled header
        own = parts[2]
        if own not in order:
            yield f"{name}:1: docs/architecture.md does not show the folder {own}"
            continue
        for line, sign, path in includes(name):
            other = target(sign, path, own, owners)
            if other in order and order.index(other) < order.index(own):
                yield f"{name}:{line}: {own} is below {other}, and includes {path}"
            if path.startswith("zookeeper") and not name.startswith("recipes/src/core/backend/zookeeper/"):
                yield f"{name}:{line}: {path} belongs into backend/zookeeper"
    for name in files("recipes/include/*.hpp"):
        for line, sign, path in includes(name):
            if sign == '"' or path.split("/")[0] in order:
                yield f"{name}:{line}: a public header includes {path}"
