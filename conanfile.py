# SPDX-License-Identifier: Apache-2.0
"""Sinter as a Conan 2 package; docs/packaging.md says how it is made and used."""
import pathlib
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load
from conan.tools.scm import Version


class Sinter(ConanFile):
    name = "sinter"
    description = "A training configuration is a C++ type; each recipe compiles into its own trainer"
    license = "Apache-2.0"
    package_type = "static-library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"assertions": [True, False], "libtorch": [True, False]}
    default_options = {"assertions": False, "libtorch": True}
    exports_sources = ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "src/*",
                       "scripts/fetch_libtorch.py", "scripts/wheels.py")

    def set_version(self):
        text = load(self, str(pathlib.Path(self.recipe_folder, "CMakeLists.txt")))
        self.version = re.search(r"project\(Sinter VERSION ([\d.]+)", text).group(1)

    def requirements(self):
        if self.options.libtorch:
            self.requires("libtorch/[>=2.11 <2.12]")
        self.requires("boost/[>=1.74]", transitive_headers=True, options={"header_only": True})
        self.requires("fmt/[>=9 <12]")
        self.requires("highway/[>=1.0]")
        self.requires("xxhash/[>=0.8]")
        self.requires("zlib/[>=1.2.11 <2]")
        self.requires("xz_utils/[>=5.2 <6]")
        self.requires("zstd/[>=1.4 <2]")
        self.requires("cli11/[>=2.1 <3]", visible=False)
        self.requires("nlohmann_json/[>=3.11 <4]", visible=False)

    def validate(self):
        check_min_cppstd(self, 20)
        compiler, version = self.settings.compiler, self.settings.compiler.version
        oldest = {"gcc": "12", "clang": "19"}.get(str(compiler))
        if oldest is None or Version(version) < oldest:
            raise ConanInvalidConfiguration(
                f"recipes pass option aggregates as template arguments, which needs gcc 12 or clang 19, "
                f"or newer; the profile names {compiler} {version}")

    def layout(self):
        cmake_layout(self)

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["SINTER_BUILD_TESTS"] = False
        toolchain.cache_variables["SINTER_BUILD_RECIPES"] = False
        toolchain.cache_variables["SINTER_ARROW"] = "OFF"  # its libraries are in a Python environment
        toolchain.cache_variables["SINTER_SENTENCEPIECE"] = "OFF"  # whatever the machine has
        toolchain.cache_variables["SINTER_ASSERTIONS"] = bool(self.options.assertions)
        toolchain.cache_variables["SINTER_WITH_LIBTORCH"] = bool(self.options.libtorch)
        toolchain.user_presets_path = False  # the presets of the source tree are its own
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        documents = pathlib.Path(self.package_folder, "share", "doc", "Sinter")
        copy(self, "*", documents, pathlib.Path(self.package_folder, "licenses"))

    def package_info(self):
        self.cpp_info.set_property("cmake_find_mode", "none")  # the package has its own SinterConfig.cmake
        self.cpp_info.set_property("cmake_file_name", "Sinter")
        self.cpp_info.builddirs = ["lib/cmake/Sinter"]
        self.cpp_info.libs = ["sinter"]
