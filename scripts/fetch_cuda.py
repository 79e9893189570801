# SPDX-License-Identifier: Apache-2.0
"""Puts CUDA's compiler and libraries (cmake/cuda.txt) into the user's cache and prints their folder.

    python3 scripts/fetch_cuda.py

For machines without CUDA's toolkit. wheels.py does it.
"""

import pathlib

from wheels import Wheels, pinned

PINS = pinned(pathlib.Path(__file__).resolve().parent.parent / "cmake" / "cuda.txt")
WANTED = (r"nvidia/cu13/(bin/.*|nvvm/.*|include/.*|lib/lib(cudart|cublasLt)\.so\.13)"
          r"|nvidia/nccl/(include/.*|lib/libnccl\.so\.2)"
          r"|[^/]*\.dist-info/(licenses/.*|RECORD)")


def main():
    wheels = Wheels("CUDA", "13.0", PINS, WANTED, megabytes=740, needed=2_500_000_000,
                    instead="export CUDAToolkit_ROOT=FOLDER, where FOLDER has bin/nvcc.")
    print(wheels.provide() / "nvidia" / "cu13")


if __name__ == "__main__":
    main()
