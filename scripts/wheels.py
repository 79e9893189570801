# SPDX-License-Identifier: Apache-2.0
"""Libraries out of pinned wheels of PyPI, in the user's cache.

The cache is $SINTER_CACHE, else $XDG_CACHE_HOME/sinter, else ~/.cache/sinter. pip downloads the
wheels for CPython 3.11 whatever Python runs this, and checks their hashes. A folder appears under
its name only when it is complete, so a process that is killed, or two at once, leave no half of one.
"""

import contextlib
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

PLATFORMS = ["manylinux_2_28_x86_64", "manylinux_2_27_x86_64", "manylinux_2_25_x86_64",
             "manylinux2014_x86_64"]


def cache_folder():
    default = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "sinter"
    return pathlib.Path(os.environ.get("SINTER_CACHE") or default).expanduser().absolute()


def fail(message):
    sys.exit(f"sinter: {message}")


def pinned(file):
    """The lines of a file of pins, by the beginning of their wheels' names: "torch-2.11.0"."""
    return {match[1].replace("-", "_") + "-" + match[2]: match[0]
            for match in re.finditer(r"^(\S+)==(\S+) .*", file.read_text(), re.M)}


class Wheels:
    """What is taken of some wheels.

    name, version  "LibTorch", "2.11.0"
    pins           what pinned() gives
    wanted         a pattern of the files that are taken out
    megabytes      of the wheels
    needed         bytes of disk: of the wheels, of what is taken out, and some air
    instead        how to name one that is there already: the end of a sentence
    """

    def __init__(self, name, version, pins, wanted, megabytes, needed, instead):
        self.name, self.version, self.pins, self.wanted = name, version, pins, re.compile(wanted)
        self.megabytes, self.needed, self.instead = megabytes, needed, instead
        self.target = cache_folder() / f"{name.lower()}-{version}"

    def download(self, folder, pins):
        requirements = folder.with_suffix(".txt")
        requirements.write_text("\n".join(pins) + "\n")
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-cache-dir",
                   "--only-binary=:all:", "--require-hashes", "--python-version=3.11",
                   "--implementation=cp", "--abi=cp311", "--abi=none"]
        command += [f"--platform={name}" for name in PLATFORMS]
        command += ["--dest", str(folder), "--requirement", str(requirements)]
        environment = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        if subprocess.run(command, stdout=sys.stderr, env=environment).returncode != 0:
            fail(f"{self.name} {self.version} could not be downloaded by pip (its message is above). "
                 f"Sinter needs PyPI once, or a {self.name} that you already have: {self.instead}")

    def unpack(self, wheels, folder):
        for wheel in wheels:
            with zipfile.ZipFile(wheel) as archive:
                for name in filter(self.wanted.fullmatch, archive.namelist()):
                    path = pathlib.Path(archive.extract(name, folder))
                    if "bin" in path.parts and path.is_file():
                        path.chmod(0o755)  # which extract() does not do

    def fetch(self):
        parent, name = self.target.parent, self.name
        if platform.machine() != "x86_64":
            fail(f"the pinned {name} is built for x86_64, this machine is {platform.machine()}. "
                 f"Name one of your own: {self.instead}")
        free = shutil.disk_usage(parent).free
        if free < self.needed:
            fail(f"{parent} has {free >> 20} MiB free, {name} needs {self.needed >> 20} MiB. "
                 "Make room, or put the cache elsewhere: export SINTER_CACHE=FOLDER.")
        print(f"sinter: downloading {name} {self.version} ({self.megabytes} MB, once) into {self.target}",
              file=sys.stderr)
        for left_behind in parent.glob(f".{name.lower()}-*"):  # by a killed process: we hold the lock
            shutil.rmtree(left_behind, ignore_errors=True)
        with self.unpacked(self.pins) as tree:
            tree.rename(self.target)

    def complete(self):
        """Adds what a later version of this project wants: wheels, or the licences of those there."""
        lacking = [name for name in self.pins if not (self.target / f"{name}.dist-info").is_dir()]
        if not lacking:
            return
        with self.unpacked(lacking) as tree:
            for folder in tree.iterdir():
                if folder.suffix != ".dist-info":
                    shutil.copytree(folder, self.target / folder.name, dirs_exist_ok=True)
            for name in lacking:  # last: they say that all is there
                (tree / f"{name}.dist-info").rename(self.target / f"{name}.dist-info")

    @contextlib.contextmanager
    def unpacked(self, names):
        """Lends a folder with what is taken of these wheels, on the disk of the cache."""
        with tempfile.TemporaryDirectory(prefix=f".{self.name.lower()}-", dir=self.target.parent) as folder:
            wheels, tree = pathlib.Path(folder, "wheels"), pathlib.Path(folder, "tree")
            self.download(wheels, [self.pins[name] for name in names])
            self.unpack(sorted(wheels.iterdir()), tree)
            yield tree

    def provide(self):
        """Returns the folder, once it is there and complete."""
        parent = self.target.parent
        try:
            parent.mkdir(parents=True, exist_ok=True)
            with open(parent / ".lock", "w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)  # a second process waits here, and finds it done
                self.complete() if self.target.is_dir() else self.fetch()
        except OSError as error:
            fail(f"the cache folder {parent} cannot be used: {error}. Expected a folder that "
                 "you may write to; put it elsewhere with: export SINTER_CACHE=FOLDER.")
        return self.target
