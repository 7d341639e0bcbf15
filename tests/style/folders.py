"""A folder of recipes/src includes only itself and the folders below it in the picture of docs/architecture.md, and only
those of parts that its part may use (PARTS). The same holds for what it declares of another folder without including
it: a forward declaration is an arrow, too. A public header with a handle (one that includes session.hpp) belongs to
the folder that has a .cpp of its name; the other public headers belong to their part alone. Headers of ZooKeeper are
included by C_CLIENT alone, which finds them in every layout, and the public headers include none of recipes/src. A
folder of zkadmin uses only those behind it in ZKADMIN. The top level has nothing but TOP."""
import collections
import pathlib
import re

from sources import all_files, files, line_of, read, without_literals

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)
DECLARED = re.compile(r"^(?:class|struct) (\w+);", re.MULTILINE)
DEFINED = re.compile(r"^(?:class|struct) (\w+)(?: final)?(?: :[^;{]*)? \{", re.MULTILINE)
TOP = set(".ci .github .clang-format .clang-tidy .editorconfig .gitignore CHANGELOG.md CMakeLists.txt CMakePresets.json "
          "CONTRIBUTING.md LICENSE README.md SECURITY.md cmake docs packaging recipes testcluster tests tools".split())
PARTS = {  # the part: those that it may use
    "core": [],
    "flow": ["core"],
    "consumer": ["flow", "core"],
    "guardian": ["core"],
    "spool": ["consumer", "flow", "core"],
    "redis": ["consumer", "flow", "core"],
    "rabbitmq": ["spool", "consumer", "flow", "core"],
    "service": ["spool", "consumer", "flow", "core"],
}
C_CLIENT = "recipes/src/core/backend/zookeeper/c_client.hpp"
ZKADMIN = ("security hold commands screen report exporter sessions change servers problems brokers cluster settings shell "
           "terminal base").split()


def layers():
    """The folders from the top to the bottom, as the picture shows them."""
    return re.findall(r"^ recipes/src/([\w/]+)", read("docs/architecture.md"), re.MULTILINE)


def part_of(folder):
    return folder.split("/")[0]


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


def folder_of(name, order):
    """The folder of the picture in which a source lies."""
    inside = "/".join(pathlib.PurePath(name).parts[2:-1])
    return next((each for each in order if inside == each or inside.startswith(each + "/")), None)


def public_owners(order):
    """The folder that implements a public header, by the header's name."""
    owners = collections.defaultdict(set)
    for name in files("recipes/src/*.cpp"):
        owners[pathlib.PurePath(name).stem].add(folder_of(name, order))
    return {stem: owners[stem].pop() for stem in with_handles() if len(owners[stem]) == 1}


def definitions(order):
    """The folder in which a class is defined, of those that are defined in one."""
    found = collections.defaultdict(set)
    for name in files("recipes/src/*.hpp"):
        for each in DEFINED.findall(read(name)):
            found[each].add(folder_of(name, order))
    return {each: folders.pop() for each, folders in found.items() if len(folders) == 1}


def target(sign, path, own, owners, by_name):
    """The folder to which the included file belongs, or the part of a public header, if any."""
    parts = path.split("/")
    if parts[0] == "zkrecipes":
        return owners.get(pathlib.PurePath(path).stem, parts[1] if parts[1] in PARTS else None)
    if sign == '"':
        return by_name.get(parts[0]) if len(parts) > 1 else own
    return None


def offence(own, other, order):
    """Says why the folder may not use the other one, or part."""
    if part_of(other) != part_of(own) and part_of(other) not in PARTS[part_of(own)]:
        return f"the part {part_of(own)} does not use {part_of(other)}"
    if other in order and order.index(other) < order.index(own):
        return f"{own} is below {other}"
    return None


def check_zkadmin():
    sources = files("tools/zkadmin/*.hpp", "tools/zkadmin/*.cpp")
    defined = {each: name.split("/")[2] for name in sources if name.endswith(".hpp") for each in DEFINED.findall(read(name))}
    for name in sources:
        own = name.split("/")[2]
        if own not in ZKADMIN:
            if not own.endswith((".cpp", ".hpp")):
                yield f"{name}:1: tests/style/folders.py does not know its folder"
            continue
        text = without_literals(read(name))
        used = [(line, path.split("/")[0], f"includes {path}") for line, sign, path in includes(name)]
        used += [(line_of(text, each.start()), defined.get(each.group(1)), f"declares {each.group(1)}")
                 for each in DECLARED.finditer(text)]
        for line, other, how in used:
            if other in ZKADMIN and ZKADMIN.index(other) < ZKADMIN.index(own):
                yield f"{name}:{line}: {own} is below {other}, and {how}"


def check():
    yield from check_zkadmin()
    for name in all_files("--cached"):  # what others leave beside them is none of ours
        if name.split("/")[0] not in TOP:
            yield f"{name}:1: the top level has no such file or folder"
    order = layers()
    owners = public_owners(order)
    by_name = {each.split("/")[-1]: each for each in order}
    defined = definitions(order)
    for name in files("recipes/src/*.hpp", "recipes/src/*.cpp"):
        if len(pathlib.PurePath(name).parts) < 4:
            continue  # the precompiled header
        own = folder_of(name, order)
        if own is None:
            yield f"{name}:1: docs/architecture.md does not show its folder"
            continue
        for line, sign, path in includes(name):
            other = target(sign, path, own, owners, by_name)
            why = other and offence(own, other, order)
            if why:
                yield f"{name}:{line}: {why}, and includes {path}"
            if path.startswith("zookeeper") and name != C_CLIENT:
                yield f"{name}:{line}: {path} is included by {C_CLIENT} alone"
        text = without_literals(read(name))
        for each in DECLARED.finditer(text):
            other = defined.get(each.group(1))
            why = other and offence(own, other, order)
            if why:
                yield f"{name}:{line_of(text, each.start())}: {why}, and declares {each.group(1)}"
    for name in files("recipes/include/*.hpp"):
        own = pathlib.PurePath(name).parts[3]
        for line, sign, path in includes(name):
            if sign == '"' or path.split("/")[0] in by_name:
                yield f"{name}:{line}: a public header includes {path}"
            other = path.split("/")[1] if path.startswith("zkrecipes/") else own
            if own in PARTS and other in PARTS and other != own and other not in PARTS[own]:
                yield f"{name}:{line}: the part {own} does not use {other}, and includes {path}"
            if own.endswith(".hpp") and own.removesuffix(".hpp") not in PARTS and other in PARTS:
                yield f"{name}:{line}: the core does not use {other}, and includes {path}"
