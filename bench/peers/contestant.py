# SPDX-License-Identifier: Apache-2.0
"""What contestants in Python share: python3 FILE.py PEER FOLDER, FOLDER holding job.json.

After its first step, and after each round (a line on standard input asks for one), a contestant
prints "STEP milliseconds-per-step loss".
"""

import json
import pathlib
import sys

import torch

folder = pathlib.Path(sys.argv[2])
job = json.loads((folder / "job.json").read_text())
torch.set_num_threads(job["threads"])


def numbers(name, dtype):
    path = folder / name
    return torch.from_file(str(path), size=path.stat().st_size // dtype.itemsize, dtype=dtype)


def optimizer_of(model):
    groups = [
        {"params": [p for p in model.parameters() if p.dim() > 1], "weight_decay": job["weight_decay"]},
        {"params": [p for p in model.parameters() if p.dim() == 1], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=job["lr"], betas=(0.9, job["beta2"]), eps=1e-8, fused=True)


def report(milliseconds, loss):
    print("STEP", milliseconds, float(torch.as_tensor(loss).detach()), flush=True)


def serve(take):
    """take(n) takes n steps; it returns milliseconds per step, and the last one's loss."""
    report(*take(1))
    for _ in sys.stdin:
        report(*take(job["steps"]))
