# SPDX-License-Identifier: Apache-2.0
"""PyTorch's DataLoader for bench/reader.cpp: python3 reader.py FOLDER, FOLDER holding job.json,
the text's pieces one a line as JSON in `pieces`.

With `ready` all tokens are made before the first step, so that what is left is the loader's own cost.
A step is matrix products on one thread, as many as take `step_ms` on a free core. It prints JSON:
the medians of a step and of what it waited for its batch, the longest wait, and the median wait for
the first batch of an epoch.
"""

import json
import os
import pathlib
import statistics
import sys
import time

os.environ["RAYON_NUM_THREADS"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
import torch
from tokenizers import Tokenizer, models, pre_tokenizers

torch.set_num_threads(1)
folder = pathlib.Path(sys.argv[1])
job = json.loads((folder / "job.json").read_text())
pieces = [json.loads(line) for line in (folder / "pieces").read_text().splitlines()]


def read_tokenizer():
    files = pathlib.Path(job["tokenizer"])
    merges = (files / "vocab.bpe").read_text(encoding="utf-8").split("\n")[1:]
    vocabulary = json.loads((files / "encoder.json").read_text(encoding="utf-8"))
    pairs = [tuple(line.split(" ")) for line in merges if line]
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=pairs))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return tokenizer


class Pieces(torch.utils.data.Dataset):
    def __init__(self):
        self.tokenizer = read_tokenizer()
        self.ready = None
        if job["ready"]:
            self.ready = [self[index] for index in range(len(pieces))]

    def __len__(self):
        return len(pieces)

    def __getitem__(self, index):
        if self.ready:
            return self.ready[index]
        ids = self.tokenizer.encode(pieces[index], add_special_tokens=False).ids
        ids = ids[: job["context"] + 1]
        ids += [0] * (job["context"] + 1 - len(ids))
        return torch.tensor(ids[:-1]), torch.tensor(ids[1:])


matrix = torch.ones(128, 128)


def work(count):
    for _ in range(count):
        torch.mm(matrix, matrix)


def products_per_ms():
    best = 0
    for _ in range(20):
        begin = time.perf_counter()
        work(200)
        best = max(best, 200 / (time.perf_counter() - begin) / 1000)
    return best


loader = torch.utils.data.DataLoader(
    Pieces(),
    batch_size=job["sequences"],
    shuffle=True,
    drop_last=True,
    num_workers=job["workers"],
    persistent_workers=job["workers"] > 0,
)
count = int(products_per_ms() * job["step_ms"])
waits, steps, first = [], [], []
while len(waits) < job["steps"]:
    begin = time.perf_counter()
    batches = iter(loader)
    for number in range(len(loader)):
        next(batches)
        ready = time.perf_counter()
        work(count)
        now = time.perf_counter()
        (waits if number else first).append((ready - begin) * 1000)
        steps.append((now - begin) * 1000)
        begin = now
print(
    json.dumps(
        {
            "step": statistics.median(steps),
            "wait": statistics.median(waits),
            "longest": max(waits),
            "first": statistics.median(first[1:] or first),
        }
    )
)
