#!/usr/bin/env python3
"""Runs the port for vcpkg and the recipe for Conan against stand-ins of their helpers, which record what they are asked for. The
options, parts, packages and versions have to be those of the project, and those of packaging/debian, too. Builds nothing.

  tests/install/packaging.py
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import types

sys.dont_write_bytecode = True
if {"--help", "-h"} & set(sys.argv):
    sys.exit(print(__doc__.strip()))
ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "packaging"
HELPERS = """
cmake_minimum_required(VERSION 3.25)
set(CURRENT_PORT_DIR "{port}")
set(CURRENT_PACKAGES_DIR "{packages}")
set(PORT zkrecipes)
set(FEATURES {features})
function(vcpkg_check_features)
  cmake_parse_arguments(PARSE_ARGV 0 a "" OUT_FEATURE_OPTIONS FEATURES)
  set(options)
  while(a_FEATURES)
    list(POP_FRONT a_FEATURES feature option)
    set(value OFF)
    if(feature IN_LIST FEATURES)
      set(value ON)
    endif()
    list(APPEND options -D${{option}}=${{value}})
  endwhile()
  set(${{a_OUT_FEATURE_OPTIONS}} ${{options}} PARENT_SCOPE)
endfunction()
function(vcpkg_cmake_configure)
  cmake_parse_arguments(PARSE_ARGV 0 a "" SOURCE_PATH OPTIONS)
  message("source ${{a_SOURCE_PATH}}")
  foreach(each IN LISTS a_OPTIONS)
    message("option ${{each}}")
  endforeach()
endfunction()
foreach(each vcpkg_cmake_install vcpkg_fixup_pkgconfig vcpkg_cmake_config_fixup vcpkg_install_copyright)
  cmake_language(EVAL CODE "function(${{each}})\nmessage(\\"${{each}} \\${{ARGN}}\\")\nendfunction()")
endforeach()
include("{port}/portfile.cmake")
"""
wrong = []


def expect(condition, what):
    if not condition:
        wrong.append(what)


def stated(pattern, name):
    return re.findall(pattern, (ROOT / name).read_text(), re.MULTILINE)


VERSION = ".".join(stated(r"^#define ZKRECIPES_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", "recipes/include/zkrecipes/version.hpp"))
OPTIONS = set(stated(r"^option\((\w+)", "CMakeLists.txt") + stated(r"^option\((\w+)", "cmake/Settings.cmake"))
PARTS = set(stated(r"^ *zkrecipes_part\((\w+)", "recipes/CMakeLists.txt")) - {"guardian"}
OPTIONAL = PARTS - {"zkrecipes", "flow", "consumer"}


def check_vcpkg():
    port = json.loads((PACKAGING / "vcpkg" / "vcpkg.json").read_text())
    expect(port["version"] == VERSION, f"vcpkg.json has version {port['version']}")
    expect(set(port["features"]) == OPTIONAL, f"vcpkg.json has the features {sorted(port['features'])}")
    with tempfile.TemporaryDirectory() as folder:
        packages = pathlib.Path(folder, "packages")
        script = pathlib.Path(folder, "port.cmake")
        script.write_text(HELPERS.format(port=PACKAGING / "vcpkg", packages=packages, features="redis spool"))
        run = subprocess.run(["cmake", "-P", script], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        expect(run.returncode == 0, f"the portfile fails: {run.stdout}")
        expect((packages / "share" / "zkrecipes" / "usage").is_file(), "the portfile installs no usage")
    expect(f"source {ROOT}\n" in run.stdout or f"source {ROOT}/\n" in run.stdout, f"another source: {run.stdout}")
    given = dict(re.findall(r"^option -D(\w+)=(\w+)$", run.stdout, re.MULTILINE))
    expect(set(given) <= OPTIONS, f"the portfile gives options that are not there: {sorted(set(given) - OPTIONS)}")
    for part in OPTIONAL:
        expect(given.get(f"ZKRECIPES_{part.upper()}") == ("ON" if part in ("redis", "spool") else "OFF"), f"vcpkg: {part}")


class Recorder(types.SimpleNamespace):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *arguments, **named: None


def stand_in(toolchains):
    """The modules of Conan that the recipe imports."""
    def toolchain(recipe):
        toolchains.append(Recorder(cache_variables={}))
        return toolchains[-1]
    contents = {
        "conan": {"ConanFile": object}, "conan.errors": {"ConanInvalidConfiguration": Exception},
        "conan.tools": {}, "conan.tools.build": {"check_min_cppstd": lambda recipe, least: expect(least == 20, "not C++20")},
        "conan.tools.cmake": {"CMake": lambda recipe: Recorder(), "CMakeDeps": lambda recipe: Recorder(),
                              "CMakeToolchain": toolchain, "cmake_layout": lambda recipe: None},
        "conan.tools.files": {"copy": lambda recipe, pattern, source, target: expect(
                                  list(pathlib.Path(source).glob(pattern)), f"the recipe copies no {pattern}"),
                              "load": lambda recipe, name: pathlib.Path(name).read_text(), "rmdir": lambda *named: None}}
    for name, values in contents.items():
        sys.modules[name] = types.ModuleType(name)
        vars(sys.modules[name]).update(values)


class Components(dict):
    def __missing__(self, name):
        self[name] = Recorder(defines=[], system_libs=[])
        return self[name]


def check_conan():
    toolchains = []
    stand_in(toolchains)
    names = {}
    exec((PACKAGING / "conan" / "conanfile.py").read_text(), names)
    for parts in ({"spool", "rabbitmq"}, set(), OPTIONAL):
        recipe = names["ZkrecipesConan"]()
        expect({each for each in recipe.options if each.startswith("with_")} == {f"with_{each}" for each in OPTIONAL},
               f"the recipe has the options {sorted(recipe.options)}")
        required = []
        recipe.recipe_folder, recipe.source_folder = str(PACKAGING / "conan"), str(ROOT)
        recipe.package_folder = recipe.export_sources_folder = "/nowhere"
        recipe.requires = lambda reference, required=required, **named: required.append(reference.split("/")[0])
        recipe.tool_requires = lambda reference: expect(reference.startswith("cmake/"), f"the recipe builds with {reference}")
        recipe.settings = types.SimpleNamespace(os="Linux")
        recipe.options = types.SimpleNamespace(get_safe=lambda name, parts=parts: name.removeprefix("with_") in parts)
        recipe.cpp_info = Recorder(components=Components())
        for step in ("set_version", "export_sources", "layout", "requirements", "build_requirements", "validate", "generate",
                     "build", "package", "package_info"):
            getattr(recipe, step)()
        expect(recipe.version == VERSION, f"the recipe has version {recipe.version}")
        given = toolchains[-1].cache_variables
        expect(set(given) <= OPTIONS, f"the recipe gives options that are not there: {sorted(set(given) - OPTIONS)}")
        made = recipe.cpp_info.components
        expect(set(made) == parts | PARTS - OPTIONAL, f"the recipe has the components {sorted(made)}")
        for part, component in made.items():
            expect(given.get(f"ZKRECIPES_{part.upper()}", True), f"the recipe has a component that is not built: {part}")
            for each in component.requires:
                package, _, _ = each.partition("::")
                expect(each in made or package in required, f"the component {part} requires {each}, and the recipe does not")


def check_debian():
    """The names are those that cpack gives, the version stands in the changelogs, each package has its component."""
    here = "packaging/debian/"
    expect(stated(r"^zkrecipes \((.*?)\)", here + "changelog")[0] == VERSION, "debian/changelog begins with another version")
    expect(stated(r"^## ([\d.]+)", "CHANGELOG.md")[0] == VERSION, "CHANGELOG.md begins with another version")
    abi = VERSION.rpartition(".")[0]
    by_cpack = {each.replace("${runtime_package}", f"libzkrecipes{abi}")
                for each in stated(r"^set\(CPACK_DEBIAN_[A-Z]+_PACKAGE_NAME (\S+)\)", "cmake/Packages.cmake")}
    made = set(stated(r"^Package: (\S+)", here + "control"))
    expect(made == by_cpack, f"debian/control and cpack differ in {sorted(made ^ by_cpack)}")
    rules = (ROOT / here / "rules").read_text()
    listed = set(re.findall(r"\w+:([a-z]\S+)", rules))
    listed |= {f"libzkrecipes-{each}-dev" for each in re.search(r"foreach each,([\w ]+),", rules)[1].split()}
    expect(listed >= made, f"debian/rules installs nothing into {sorted(made - listed)}")


check_vcpkg()
check_conan()
check_debian()
print("\n".join(wrong) or "all right")
sys.exit(1 if wrong else 0)
