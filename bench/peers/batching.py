# SPDX-License-Identifier: Apache-2.0
"""PyTorch eager as a contestant of bench/batching.cpp: python3 batching.py eager FOLDER.

FOLDER holds job.json, weights/ (GPT-2 as Hugging Face has it) and, as int32, ids.bin and targets.bin
(-1 where nothing is predicted) of padded batches, one after the other, and lengths.bin (what each
batch is padded to). Padding is behind the tokens, so that causal attention needs no other mask.
"""

import time

import torch

from contestant import numbers, optimizer_of
from rounds import job, serve
from gpt2 import our_model

lengths = numbers("lengths.bin", torch.int32).tolist()
sizes = [job["sequences"] * length for length in lengths]


def batches(name):
    parts = numbers(name, torch.int32).long().split(sizes)
    return [part.view(job["sequences"], -1) for part in parts]


ids = batches("ids.bin")
targets = [part.masked_fill(part < 0, -100) for part in batches("targets.bin")]
model = our_model()
optimizer = optimizer_of(model)
taken = 0


def take(n):
    global taken
    begin = time.perf_counter()
    for _ in range(n):
        loss = model(ids[taken], targets[taken])
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), job["max_norm"], foreach=True)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        taken += 1
    return (time.perf_counter() - begin) * 1000 / n, loss


serve(take)
