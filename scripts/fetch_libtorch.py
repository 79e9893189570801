# SPDX-License-Identifier: Apache-2.0
"""Puts the pinned LibTorch (cmake/libtorch.txt) into the user's cache and prints its folder.

    python3 scripts/fetch_libtorch.py

A LibTorch that an older Sinter has put there without the licences of all wheels is given them.
wheels.py does it.
"""

import pathlib

from wheels import Wheels, cache_folder, pinned  # noqa: F401: packaging/conan asks for the cache

HERE = pathlib.Path(__file__).resolve().parent
PINS = pinned(next(file for file in (HERE / "libtorch.txt", HERE.parent / "cmake" / "libtorch.txt")
                   if file.exists()))
VERSION = next(name for name in PINS if name.startswith("torch-")).removeprefix("torch-")
WANTED = (r"torch/include/.*"
          r"|torch/lib/(libtorch_cpu\.so|libc10\.so|libgomp\.so\.1)"
          r"|nvidia/cu13/lib/(libcudart\.so\.13|libcupti\.so\.13)"
          r"|[^/]*\.dist-info/(licenses/.*|RECORD)")


def main():
    wheels = Wheels("LibTorch", VERSION, PINS, WANTED, megabytes=545, needed=1_300_000_000,
                    instead="export Torch_DIR=FOLDER, where FOLDER holds TorchConfig.cmake.")
    print(wheels.provide() / "torch")


if __name__ == "__main__":
    main()
