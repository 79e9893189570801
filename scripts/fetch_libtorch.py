# SPDX-License-Identifier: Apache-2.0
"""Puts the pinned LibTorch (cmake/libtorch.txt) into the user's cache and prints its folder.

    python3 scripts/fetch_libtorch.py

A LibTorch that an older Sinter has put there without the licences of all wheels is given them.
The cache is $SINTER_CACHE, else $XDG_CACHE_HOME/sinter, else ~/.cache/sinter. pip downloads the
wheels for CPython 3.11 whatever Python runs this, and checks their hashes. The folder appears under
its name only when it is complete, so a process that is killed, or two at once, leave no half of one.
"""

import fcntl
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
PINS = next(file for file in (HERE / "libtorch.txt", HERE.parent / "cmake" / "libtorch.txt") if file.exists())
WHEELS = {match[1].replace("-", "_") + "-" + match[2]: match[0]  # "torch-2.11.0": its pin
          for match in re.finditer(r"^(\S+)==(\S+) .*", PINS.read_text(), re.M)}
VERSION = next(name for name in WHEELS if name.startswith("torch-")).removeprefix("torch-")
PLATFORMS = ["manylinux_2_28_x86_64", "manylinux_2_25_x86_64", "manylinux2014_x86_64"]
BYTES_NEEDED = 1_300_000_000  # 545 MB of wheels, 500 MB unpacked, and some air
WANTED = re.compile(
    r"torch/include/.*"
    r"|torch/lib/(libtorch_cpu\.so|libc10\.so|libgomp\.so\.1)"
    r"|nvidia/cu13/lib/(libcudart\.so\.13|libcupti\.so\.13)"
    r"|[^/]*\.dist-info/(licenses/.*|RECORD)"
)


def cache_folder():
    default = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "sinter"
    return pathlib.Path(os.environ.get("SINTER_CACHE") or default).expanduser().absolute()


def fail(message):
    sys.exit(f"sinter: {message}")


def download(folder, pins):
    requirements = folder.with_suffix(".txt")
    requirements.write_text("\n".join(pins) + "\n")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-cache-dir",
               "--only-binary=:all:", "--require-hashes", "--python-version=3.11",
               "--implementation=cp", "--abi=cp311", "--abi=none"]
    command += [f"--platform={name}" for name in PLATFORMS]
    command += ["--dest", str(folder), "--requirement", str(requirements)]
    environment = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    if subprocess.run(command, stdout=sys.stderr, env=environment).returncode != 0:
        fail(f"LibTorch {VERSION} could not be downloaded by pip (its message is above). Sinter "
             "needs PyPI once, or a LibTorch that you already have: export Torch_DIR=FOLDER, "
             "where FOLDER holds TorchConfig.cmake.")


def unpack(wheels, folder):
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder, [n for n in archive.namelist() if WANTED.fullmatch(n)])


def fetch(target):
    if platform.machine() != "x86_64":
        fail(f"the pinned LibTorch is built for x86_64, this machine is {platform.machine()}. "
             "Name one of your own: export Torch_DIR=FOLDER, where FOLDER holds TorchConfig.cmake.")
    free = shutil.disk_usage(target.parent).free
    if free < BYTES_NEEDED:
        fail(f"{target.parent} has {free >> 20} MiB free, LibTorch needs {BYTES_NEEDED >> 20} MiB. "
             "Make room, or put the cache elsewhere: export SINTER_CACHE=FOLDER.")
    print(f"sinter: downloading LibTorch {VERSION} (545 MB, once) into {target}", file=sys.stderr)
    for left_behind in target.parent.glob(".libtorch-*"):  # by a killed process: we hold the lock
        shutil.rmtree(left_behind, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=".libtorch-", dir=target.parent) as temporary:
        wheels, tree = pathlib.Path(temporary, "wheels"), pathlib.Path(temporary, "tree")
        download(wheels, WHEELS.values())
        unpack(sorted(wheels.iterdir()), tree)
        tree.rename(target)


def complete(target):
    """Adds the licences of wheels that were unpacked without them."""
    lacking = [name for name in WHEELS if not (target / f"{name}.dist-info").is_dir()]
    if not lacking:
        return
    with tempfile.TemporaryDirectory(prefix=".libtorch-", dir=target.parent) as temporary:
        wheels, tree = pathlib.Path(temporary, "wheels"), pathlib.Path(temporary, "tree")
        download(wheels, [WHEELS[name] for name in lacking])
        unpack(sorted(wheels.iterdir()), tree)
        for name in lacking:
            (tree / f"{name}.dist-info").rename(target / f"{name}.dist-info")


def main():
    target = cache_folder() / f"libtorch-{VERSION}"
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with open(target.parent / ".lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # a second process waits here, and finds it done
            complete(target) if target.is_dir() else fetch(target)
    except OSError as error:
        fail(f"the cache folder {target.parent} cannot be used: {error}. Expected a folder that "
             "you may write to; put it elsewhere with: export SINTER_CACHE=FOLDER.")
    print(target / "torch")


if __name__ == "__main__":
    main()
