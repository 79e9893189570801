# SPDX-License-Identifier: Apache-2.0
"""conan build . -r sinter --profile:all profiles/debian12 --build=missing"""
from conan import ConanFile
from conan.tools.cmake import CMake, cmake_layout


class MyProject(ConanFile):
    name = "my_project"
    version = "0.1.0"
    settings = "os", "arch", "compiler", "build_type"
    generators = "CMakeDeps", "CMakeToolchain"

    def requirements(self):
        self.requires("sinter/[~0.2]")

    def layout(self):
        cmake_layout(self)

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()
        cmake.ctest(["--output-on-failure", "--no-tests=error"])
