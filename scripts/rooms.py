#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the floors that the rooms of the library stand on, from what their files include.

usage: rooms.py [--check PAGE | --write PAGE]

The room of include/sinter/X/… and src/X/… is X. A room stands above all rooms that it includes. Where rooms include
each other in a circle, the circle is printed instead, each of its arrows with an example, and the exit status is 1.
  --check PAGE   also fail if the picture of floors on PAGE is another one
  --write PAGE   put the picture of floors on PAGE
"""
import argparse
import collections
import functools
import graphlib
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent
folders = {"include": root / "include", "src": root / "src"}


def room(path):
    """The room of a file, or None of one that stands in no room, such as sinter.hpp."""
    parts = path.relative_to(root).parts
    parts = parts[2:] if parts[0] == "include" else parts[1:]
    return parts[0] if len(parts) > 1 else None


def read_arrows():
    """Of each room: the rooms that it includes, each with the includes that say so."""
    arrows = collections.defaultdict(lambda: collections.defaultdict(list))
    for folder in folders.values():
        for path in sorted(folder.rglob("*")):
            if path.suffix not in (".hpp", ".cpp", ".cu") or room(path) is None:
                continue
            arrows[room(path)]
            for name in re.findall(r'^\s*#include "(.*)"', path.read_text(encoding="utf8"), re.M):
                target = folders["include" if name.startswith("sinter/") else "src"] / name
                if target.exists() and room(target) not in (None, room(path)):
                    arrows[room(path)][room(target)].append(f"{path.relative_to(root)} includes {name}")
    return arrows


def floors(arrows):
    """Lines of rooms, the highest floor first. Throws graphlib.CycleError where there is a circle."""
    graphlib.TopologicalSorter(arrows).prepare()

    @functools.lru_cache(None)
    def floor(name):
        return 1 + max((floor(below) for below in arrows[name]), default=0)

    by_floor = collections.defaultdict(list)
    for name in sorted(arrows):
        by_floor[floor(name)].append(name)
    return [f"{number:4}  {', '.join(by_floor[number])}" for number in sorted(by_floor, reverse=True)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", metavar="PAGE", type=pathlib.Path)
    parser.add_argument("--write", metavar="PAGE", type=pathlib.Path)
    options = parser.parse_args()
    arrows = read_arrows()
    try:
        picture = "\n".join(floors(arrows))
    except graphlib.CycleError as error:
        circle = error.args[1][::-1]
        print(f"rooms.py: rooms include each other in a circle: {' -> '.join(circle)}", file=sys.stderr)
        for one, other in zip(circle, circle[1:]):
            print(f"  {one} -> {other}: {len(arrows[one][other])}, such as {arrows[one][other][0]}", file=sys.stderr)
        print("Move what the lower room needs down into it, or the file that includes it up.", file=sys.stderr)
        return 1
    print(picture)
    page = options.check or options.write
    if page:
        text = page.read_text(encoding="utf8")
        frame = re.compile(r"(<!-- scripts/rooms\.py writes this -->\n```\n).*?(```)", re.S)
        written = frame.sub(lambda match: f"{match[1]}{picture}\n{match[2]}", text)
        if not frame.search(text):
            sys.exit(f"rooms.py: {page} has no block that begins with '<!-- scripts/rooms.py writes this -->' and ```.")
        if options.write:
            page.write_text(written, encoding="utf8")
        elif written != text:
            sys.exit(f"rooms.py: the floors on {page} are not those above. Write them anew: scripts/rooms.py --write {page}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
