"""Which tests are near to changed sources. A unity object has the headers of sixteen sources, so the build's own record of
headers would name nearly all tests: here each source has its own."""
import collections
import heapq
import pathlib
import re

from sources import files, read

INCLUDE = re.compile(r'^ *#include [<"]([\w/.]+)[>"]', re.MULTILINE)
SUITE = re.compile(r"^BOOST_(\w*?)TEST_(SUITE_END|SUITE|CASE)(?:_TEMPLATE)?\((\w*)", re.MULTILINE)
COLLECTIONS = re.compile(r"recipes/include/zkrecipes/\w+\.hpp")  # a header that only includes others makes none nearer


class Includes:
    def __init__(self):
        self.text = {name: read(name) for name in files("*.cpp", "*.hpp")}
        by_name = collections.defaultdict(list)
        for name in self.text:
            by_name[name.rpartition("/")[2]].append(name)
        self.of = {name: [each for path in INCLUDE.findall(text) for each in self._found(path, name, by_name)]
                   for name, text in self.text.items()}
        self.by = collections.defaultdict(list)
        for name, included in self.of.items():
            for each in included:
                self.by[each].append(name)

    @staticmethod
    def _found(path, where, by_name):
        found = [each for each in by_name[path.rpartition("/")[2]] if f"/{each}".endswith(f"/{path}")]
        beside = [each for each in found if pathlib.Path(each).parent == pathlib.Path(where).parent]
        return beside or found

    def _declared_in(self, source):
        """The headers of a source: those with its name, or else the one whose name begins it, as in name_more.cpp."""
        stem = pathlib.Path(source).stem
        named = sorted((each for each in self.of[source] if f"{stem}_".startswith(f"{pathlib.Path(each).stem}_")
                        and each.startswith("tests/") == source.startswith("tests/")), key=len)
        return [each for each in named if pathlib.Path(each).stem == stem] or named[-1:]

    def _steps(self, name):
        """What has to be looked at if this changes, and how much further away it is."""
        if name.endswith(".cpp"):
            yield from ((each, 0) for each in self._declared_in(name))
        elif not (COLLECTIONS.fullmatch(name) and re.sub(r"(?m)^(#|//).*\n|\s", "", self.text[name]) == ""):
            yield from ((each, 0 if name.startswith("tests/") else 1) for each in self.by[name])

    def distances(self, changed):
        """The least number of sources of the library and the tools between a change and each source."""
        nearest, waiting = {}, [(0, name) for name in changed if name in self.text]
        while waiting:
            distance, name = heapq.heappop(waiting)
            if name not in nearest:
                nearest[name] = distance
                for each, more in self._steps(name):
                    heapq.heappush(waiting, (distance + more, each))
        return nearest

    def suites_in(self, source):
        """The outermost suites of a source; for cases outside of any, their names."""
        depth, found = 0, []
        for _, kind, name in SUITE.findall(self.text[source]):
            if kind != "SUITE_END" and depth == 0 and name not in found:
                found.append(name)
            depth += {"SUITE": 1, "SUITE_END": -1, "CASE": 0}[kind]
        return found

    def scenarios_in(self, source):
        table = re.findall(r'\{"(\w+)", &(\w+)\}', self.text["tests/simulation/run/scenarios.cpp"])
        return [name for name, maker in table if re.search(rf"\b{maker}\(stage& \w+\) \{{", self.text[source])]

    def fuzz_targets_in(self, source):
        seeds = {pathlib.Path(name).stem for name in files("tests/fuzz/seeds/*.txt")}
        return [name for name in dict.fromkeys(re.findall(r'"(\w+)"', self.text[source])) if name in seeds]
