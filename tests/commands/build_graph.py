"""What a build folder knows: which programs have which sources, and the tests of ctest."""
import collections
import json
import os
import pathlib
import re
import subprocess
import sys

from sources import ROOT

Test = collections.namedtuple("Test", "name program arguments environment")
EDGE = re.compile(r"^build (.*?): (\w+) (.*)$", re.MULTILINE)
INCLUDED = re.compile(r'^#include "(.*)"$', re.MULTILINE)


class Graph:
    """Configures a preset, and reads its build.ninja. A unity source includes the sources that it stands for."""

    def __init__(self, preset):
        self.preset, self.folder = preset, ROOT / "build" / preset
        log = ROOT / "build" / f"configure-{preset}.log"
        log.parent.mkdir(exist_ok=True)
        with log.open("w") as out:
            if subprocess.run(["cmake", "--preset", preset], cwd=ROOT, stdout=out, stderr=subprocess.STDOUT).returncode:
                sys.exit(log.read_text())
        objects, self._inputs, self._programs = {}, {}, collections.defaultdict(set)
        for outputs, rule, inputs in EDGE.findall((self.folder / "build.ninja").read_text()):
            inputs = inputs.split(" | ")[0].split(" || ")[0].split()
            if rule.startswith("CXX_COMPILER"):
                objects[outputs.split()[0]] = self._sources(inputs[0])
            elif rule == "phony":
                self._inputs[outputs] = inputs
            elif rule.startswith(("CXX_EXECUTABLE_LINKER", "CXX_STATIC_LIBRARY_LINKER")):
                self._inputs[outputs] = inputs
        for output, inputs in self._inputs.items():
            for source in (source for each in inputs for source in objects.get(each, ())):
                self._programs[source].add(output)

    @staticmethod
    def _sources(path):
        name = path.removeprefix(f"{ROOT}/")
        return [each.removeprefix(f"{ROOT}/") for each in INCLUDED.findall(pathlib.Path(path).read_text())] \
            if "/Unity/" in name else [name]

    def programs_of(self, source):
        """The programs that have this source themselves; those of a library of tests: the one that it is made for."""
        for_library = {"tests/simulation/libzkrecipes_simulation.a": "bin/zkrecipes-simulate"}
        return {pathlib.Path(each).name for each in (for_library.get(each, each) for each in self._programs[source])
                if each.startswith("bin/")}

    def group(self, target):
        return {pathlib.Path(each).name for each in self._inputs.get(f"tests/{target}", ())}

    def build(self, programs):
        """The targets are the files, because a program may have another name than its target."""
        command = ["cmake", "--build", "--preset", self.preset, "--target", *(f"bin/{each}" for each in programs)]
        status = subprocess.run(command, cwd=ROOT, env={"NINJA_STATUS": "[%f/%t, %e s] ", **os.environ}).returncode
        if status:
            sys.exit(status)

    def tests(self):
        """Those whose program has been built."""
        listed = json.loads(subprocess.run(["ctest", "--show-only=json-v1"], cwd=self.folder, check=True,
                                           stdout=subprocess.PIPE).stdout)["tests"]
        for each in listed:
            properties = {one["name"]: one["value"] for one in each["properties"]}
            if "command" in each:
                yield Test(each["name"], each["command"][0], each["command"][1:],
                           dict(word.split("=", 1) for word in properties.get("ENVIRONMENT", ())))


class Graphs(dict):
    """One for each preset that is asked for."""

    def __missing__(self, preset):
        self[preset] = Graph(preset)
        return self[preset]
