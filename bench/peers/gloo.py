# SPDX-License-Identifier: Apache-2.0
"""PyTorch's Gloo as a contestant of bench/ranks.cpp: python3 gloo.py gloo FOLDER, FOLDER holding
job.json.

Two processes sum float32 in place. A time is that of rank 0 from a barrier to the end of the sum.
"""

import os
import time

import torch
import torch.distributed as distributed

from rounds import folder, job, serve_on_ranks

torch.set_num_threads(1)
rank = int(os.fork() == 0)
store = f"file://{(folder / 'store').resolve()}"
distributed.init_process_group("gloo", init_method=store, rank=rank, world_size=2)
values = torch.empty(job["elements"])


def take(steps):
    passed = 0.0
    for _ in range(steps):
        values.fill_(1 + rank)
        distributed.barrier()
        begin = time.perf_counter()
        distributed.all_reduce(values)
        passed += time.perf_counter() - begin
    return 1e3 * passed / steps, values[-1]


serve_on_ranks(rank, take)
