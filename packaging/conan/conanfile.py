import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir

required_conan_version = ">=2.1"

# The parts beyond those that are always built: what each needs, as a package and as a component of that package.
PARTS = {
    "spool": ("sqlite3/[>=3.40 <4]", "sqlite3::sqlite3"),
    "redis": ("hiredis/[>=1.0 <2]", "hiredis::hiredis"),
    "rabbitmq": ("rabbitmq-c/[>=0.11 <1]", "rabbitmq-c::rabbitmq-c"),
    "service": ("tomlplusplus/[>=3.3 <4]", "tomlplusplus::tomlplusplus"),
}


class ZkrecipesConan(ConanFile):
    """Packages the tree that it stands in. In an index the sources come from conandata.yml by get()."""

    name = "zkrecipes"
    description = "Asynchronous ZooKeeper recipes on Boost.Asio, and a consumer coordinator"
    license = "Apache-2.0"
    topics = ("zookeeper", "asio", "coroutines", "lock", "leader-election", "queue")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False], **{f"with_{part}": [True, False] for part in PARTS}}
    default_options = {"shared": False, "fPIC": True, **{f"with_{part}": False for part in PARTS}}
    implements = ["auto_shared_fpic"]

    @property
    def _parts(self):
        return [part for part in PARTS if self.options.get_safe(f"with_{part}")]

    def set_version(self):
        header = load(self, os.path.join(self.recipe_folder, "../../recipes/include/zkrecipes/version.hpp"))
        self.version = ".".join(re.findall(r"^#define ZKRECIPES_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", header, re.MULTILINE))

    def export_sources(self):
        top = os.path.join(self.recipe_folder, "../..")
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "recipes/*"):
            copy(self, pattern, top, self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        self.requires("boost/[>=1.81 <2]", transitive_headers=True, transitive_libs=True)
        self.requires("openssl/[>=3 <4]")
        self.requires("zookeeper-client-c/[>=3.8 <4]")
        for part in self._parts:
            self.requires(PARTS[part][0])

    def build_requirements(self):
        self.tool_requires("cmake/[>=3.25 <5]")

    def validate(self):
        check_min_cppstd(self, 20)
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("zkrecipes is for Linux only")

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["ZKRECIPES_BUILD_TOOLS"] = False
        toolchain.cache_variables["ZKRECIPES_WARNINGS_ARE_ERRORS"] = False
        for part in PARTS:
            toolchain.cache_variables[f"ZKRECIPES_{part.upper()}"] = part in self._parts
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()
        rmdir(self, os.path.join(self.package_folder, "lib", "cmake"))
        rmdir(self, os.path.join(self.package_folder, "lib", "pkgconfig"))

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "zkrecipes")
        # With every part zkrecipes::zkrecipes would be that of the package, so this one has a name that nobody uses.
        self.cpp_info.set_property("cmake_target_name", "zkrecipes::all")
        spool = ["spool"] if "spool" in self._parts else []
        needs = {"zkrecipes": ["boost::headers", "boost::json", "openssl::ssl", "zookeeper-client-c::zookeeper-client-c"],
                 "flow": ["zkrecipes"], "consumer": ["flow"]}
        for part in self._parts:
            needs[part] = ["consumer", PARTS[part][1], *(spool if part in ("rabbitmq", "service") else [])]
        for part, requires in needs.items():
            component = self.cpp_info.components[part]
            component.libs = ["zkrecipes" if part == "zkrecipes" else f"zkrecipes_{part}"]
            component.requires = requires
            component.set_property("cmake_target_name", f"zkrecipes::{part}")
            component.set_property("pkg_config_name", "zkrecipes" if part == "zkrecipes" else f"zkrecipes-{part}")
        self.cpp_info.components["zkrecipes"].defines = ["BOOST_ASIO_NO_DEPRECATED"]
        self.cpp_info.components["zkrecipes"].system_libs = ["pthread"]
