# SPDX-License-Identifier: Apache-2.0
"""LibTorch's CPU half (libtorch_cpu, libc10) out of the wheels that cmake/libtorch.txt pins by hash.

One binary serves every compiler with the C++11 ABI, and both build types. Sinter finds it through
builddirs, as it finds any LibTorch; others link its components.
"""
import os
import pathlib
import sys

from conan import ConanFile
from conan.errors import ConanException, ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.files import copy


class LibTorch(ConanFile):
    name = "libtorch"
    description = "The C++ library of PyTorch, its CPU half, from the wheels of PyPI"
    license = "BSD-3-Clause"
    url = homepage = "https://pytorch.org"
    package_type = "shared-library"
    settings = "os", "arch", "compiler", "build_type"

    def export(self):
        project = pathlib.Path(self.recipe_folder).parents[4]
        copy(self, "libtorch.txt", project / "cmake", self.export_folder)
        for script in ("fetch_libtorch.py", "wheels.py"):
            copy(self, script, project / "scripts", self.export_folder)
        if self.version != self.fetch().VERSION:
            raise ConanException(f"cmake/libtorch.txt pins torch {self.fetch().VERSION}, config.yml offers "
                                 f"{self.version}. Let both name the same version.")

    def fetch(self):
        """The script that fetches the wheels, as a module."""
        sys.path.insert(0, str(self.export_folder or self.recipe_folder))
        import fetch_libtorch
        return fetch_libtorch

    def validate(self):
        if self.settings.os != "Linux" or self.settings.arch != "x86_64":
            raise ConanInvalidConfiguration("the wheels are built for Linux on x86_64, not for "
                                            f"{self.settings.os} on {self.settings.arch}")
        if self.settings.get_safe("compiler.libcxx") != "libstdc++11":
            raise ConanInvalidConfiguration("the wheels have the C++11 ABI of libstdc++: set "
                                            "compiler.libcxx=libstdc++11 in the profile")
        check_min_cppstd(self, 17)

    def package_id(self):
        del self.info.settings.compiler
        del self.info.settings.build_type

    def build(self):
        fetch = self.fetch()
        if not (fetch.cache_folder() / f"libtorch-{self.version}").is_dir():
            os.environ["SINTER_CACHE"] = self.build_folder
        fetch.main()
        self.tree = fetch.cache_folder() / f"libtorch-{self.version}"

    def package(self):
        for folder in ("torch", "nvidia"):
            copy(self, "*", self.tree / folder, pathlib.Path(self.package_folder, folder))
        for wheel in self.tree.glob("*.dist-info"):
            copy(self, "*", wheel, pathlib.Path(self.package_folder, "licenses", wheel.stem))

    def package_info(self):
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = ["torch"]
        for name in ("c10", "torch_cpu"):
            component = self.cpp_info.components[name]
            component.libs = [name]
            component.libdirs = ["torch/lib"]
            component.bindirs = []
            component.includedirs = ["torch/include", "torch/include/torch/csrc/api/include"]
        self.cpp_info.components["torch_cpu"].requires = ["c10"]
