# SPDX-License-Identifier: Apache-2.0
"""How a contestant in Python talks to the bench: python3 FILE.py PEER FOLDER, FOLDER holding job.json.

After its first step, and after each round (a line on standard input asks for one), a contestant
prints "STEP milliseconds-per-step loss".
"""

import json
import os
import pathlib
import sys
import time

folder = pathlib.Path(sys.argv[2])
job = json.loads((folder / "job.json").read_text())


def report(milliseconds, loss):
    """The loss is a number, or whatever becomes one; a tensor of PyTorch's may have a gradient."""
    number = float(loss.detach() if hasattr(loss, "detach") else loss)
    print("STEP", milliseconds, number, flush=True)


def serve(take):
    """take(n) takes n steps; it returns milliseconds per step, and the last one's loss."""
    report(*take(1))
    for _ in sys.stdin:
        report(*take(job["steps"]))


def serve_on_ranks(rank, take):
    """The same on each of several processes. Ranks but the first call take(1) until the first has gone."""
    if rank == 0:
        return serve(take)
    try:
        while True:
            take(1)
    except RuntimeError:  # rank 0 has all it wants
        os._exit(0)


class Rounds:
    """Where a framework owns the loop: called after each of its steps."""

    def __init__(self):
        self.taken = 0

    def after_step(self, loss):
        """Returns whether to go on."""
        self.taken += 1
        if (self.taken - 1) % job["steps"]:
            return True
        report(0 if self.taken == 1 else (time.perf_counter() - self.begin) * 1000 / job["steps"], loss)
        more = sys.stdin.readline() != ""
        self.begin = time.perf_counter()
        return more
