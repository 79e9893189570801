# SPDX-License-Identifier: Apache-2.0
"""PyTorch on two processes as a contestant of bench/processes.cpp: python3 processes.py WORD FOLDER.

FOLDER holds job.json, weights/ and, as int32, ids.bin and targets.bin: all sequences of all steps.
WORD is together (DistributedDataParallel over Gloo) or apart (two runs of their own).
"""

import contextlib
import os
import sys
import time

import torch
import torch.distributed as distributed

from rounds import folder, job, serve_on_ranks

together = sys.argv[1] == "together"
rank = int(os.fork() == 0)
os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[rank]})

from contestant import numbers, optimizer_of  # sets the number of threads
from gpt2 import our_model

store = f"file://{(folder / f'store-{sys.argv[1]}').resolve()}"
distributed.init_process_group("gloo", init_method=store, rank=rank, world_size=2)
shape = (-1, job["processes"], job["micro_batches"], job["micro"], job["context"])
ids, targets = (numbers(f"{n}.bin", torch.int32).view(shape)[:, rank].long() for n in ("ids", "targets"))
model = our_model()
trained = torch.nn.parallel.DistributedDataParallel(model) if together else model
optimizer = optimizer_of(model)
number = 0


def step():
    global number
    total = 0
    last = job["micro_batches"] - 1
    for k in range(last + 1):
        with trained.no_sync() if together and k < last else contextlib.nullcontext():
            loss = trained(ids[number, k], targets[number, k]) / (last + 1)
            loss.backward()
        total += loss.detach()
    torch.nn.utils.clip_grad_norm_(model.parameters(), job["max_norm"], foreach=True)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    number += 1
    return total


def take(steps):
    count = torch.tensor([float(steps if rank == 0 else 0)])
    distributed.all_reduce(count)
    begin = time.perf_counter()
    for _ in range(int(count)):
        loss = step()
    speed = count / (1e3 * (time.perf_counter() - begin))
    distributed.all_reduce(speed)
    if together:
        distributed.all_reduce(loss)
        loss /= 2
    return 2 / float(speed), loss


serve_on_ranks(rank, take)
