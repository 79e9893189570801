# SPDX-License-Identifier: Apache-2.0
"""nanoGPT's settings for tinyshakespeare in PyTorch, as an entry of bench/speedrun.cpp.

python3 nanogpt.py train --data FILE --validation FILE --out FOLDER [--settings gpu|cpu] [--compile] …

The settings are those of nanoGPT's config/train_shakespeare_char.py (gpu), or those that its README names for a
computer without a card (cpu). Tokens are characters, which are bytes here. Every evaluation takes the whole validation
part in windows, each byte once, where nanoGPT estimates the loss from random ones. FOLDER/metrics.jsonl has a row for
each step.
"""

import argparse
import json
import math
import pathlib
import time

import numpy
import torch
from torch import nn
from torch.nn import functional as F

SETTINGS = {
    "gpu": dict(layers=6, heads=6, width=384, context=256, batch=64, dropout=0.2, steps=5000, every=250),
    "cpu": dict(layers=4, heads=4, width=128, context=64, batch=12, dropout=0.0, steps=2000, every=250),
}
LR, MIN_LR, WARMUP, BETAS, WEIGHT_DECAY, MAX_NORM = 1e-3, 1e-4, 100, (0.9, 0.99), 0.1, 1.0

words = argparse.ArgumentParser(description=__doc__)
words.add_argument("verb", choices=["train"])
words.add_argument("--data", required=True)
words.add_argument("--validation", required=True)
words.add_argument("--out", required=True)
words.add_argument("--seed", type=int, default=1)
words.add_argument("--threads", type=int, default=torch.get_num_threads())
words.add_argument("--settings", choices=SETTINGS, default="gpu")
words.add_argument("--steps", type=int, help="of the settings by default; the schedule ends there")
words.add_argument("--eval-every", type=int, help="of the settings by default")
words.add_argument("--compile", action="store_true")
asked = words.parse_args()
of = SETTINGS[asked.settings]
steps, every = asked.steps or of["steps"], asked.eval_every or of["every"]
torch.manual_seed(asked.seed)
torch.set_num_threads(asked.threads)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        width = of["width"]
        self.norms = nn.ModuleList(nn.LayerNorm(width, bias=False) for _ in range(2))
        self.qkv, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
        self.wide, self.narrow = nn.Linear(width, 4 * width, bias=False), nn.Linear(4 * width, width, bias=False)
        self.drop = nn.Dropout(of["dropout"])

    def forward(self, x):
        batch, rows, width = x.shape
        heads = (part.view(batch, rows, of["heads"], -1).transpose(1, 2) for part in self.qkv(self.norms[0](x)).split(width, 2))
        dropout = of["dropout"] if self.training else 0
        mixed = F.scaled_dot_product_attention(*heads, is_causal=True, dropout_p=dropout)
        x = x + self.drop(self.out(mixed.transpose(1, 2).reshape(batch, rows, width)))
        return x + self.drop(self.narrow(F.gelu(self.wide(self.norms[1](x)))))


class Gpt(nn.Module):
    def __init__(self, vocabulary):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocabulary, of["width"]), nn.Embedding(of["context"], of["width"])
        self.drop, self.norm = nn.Dropout(of["dropout"]), nn.LayerNorm(of["width"], bias=False)
        self.blocks = nn.ModuleList(Block() for _ in range(of["layers"]))
        for name, p in self.named_parameters():
            if p.dim() == 2:
                narrow = name.endswith(("out.weight", "narrow.weight"))
                nn.init.normal_(p, std=0.02 / math.sqrt(2 * of["layers"]) if narrow else 0.02)

    def forward(self, ids, targets):
        x = self.drop(self.tokens(ids) + self.positions.weight[: ids.shape[1]])
        for block in self.blocks:
            x = block(x)
        return F.cross_entropy((self.norm(x) @ self.tokens.weight.T).flatten(0, 1), targets.flatten())


def read(path):
    return torch.from_numpy(numpy.fromfile(path, numpy.uint8).astype(numpy.int64))


training, validation = read(asked.data), read(asked.validation)
characters = torch.cat([training, validation]).unique()
training, validation = (torch.searchsorted(characters, text) for text in (training, validation))


def batch():
    starts = torch.randint(len(training) - of["context"], (of["batch"],))
    windows = torch.stack([training[s : s + of["context"] + 1] for s in starts])
    return windows[:, :-1], windows[:, 1:]


@torch.no_grad()
def validation_loss(model):
    model.eval()
    context, total = of["context"], 0.0
    whole = (len(validation) - 1) // context
    ids, targets = (validation[k : k + whole * context].view(whole, context) for k in (0, 1))
    for part in range(0, whole, of["batch"]):
        rows = slice(part, part + of["batch"])
        total += float(model(ids[rows], targets[rows])) * ids[rows].numel()
    rest = validation[whole * context :]
    if len(rest) > 1:
        total += float(model(rest[None, :-1], rest[None, 1:])) * (len(rest) - 1)
    model.train()
    return total / (len(validation) - 1)


def rate(step):
    if step < WARMUP:
        return LR * (step + 1) / (WARMUP + 1)
    done = min(1, (step - WARMUP) / (steps - WARMUP))
    return MIN_LR + (LR - MIN_LR) * (1 + math.cos(math.pi * done)) / 2


model = Gpt(len(characters))
matrices = [p for p in model.parameters() if p.dim() >= 2]
others = [p for p in model.parameters() if p.dim() < 2]
optimizer = torch.optim.AdamW(
    [dict(params=matrices, weight_decay=WEIGHT_DECAY), dict(params=others, weight_decay=0.0)], betas=BETAS
)
compiled = torch.compile(model) if asked.compile else model
folder = pathlib.Path(asked.out)
folder.mkdir(parents=True)
with open(folder / "metrics.jsonl", "w") as log:
    for step in range(1, steps + 1):
        begin, cpu = time.perf_counter(), time.process_time()
        for group in optimizer.param_groups:
            group["lr"] = rate(step - 1)
        loss = compiled(*batch())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), MAX_NORM)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        row = {"step": step, "loss": float(loss.detach())}
        row["step_ms"], row["step_cpu_ms"] = 1e3 * (time.perf_counter() - begin), 1e3 * (time.process_time() - cpu)
        if step % every == 0 or step == steps:
            row["val_loss"] = validation_loss(model)
        print(json.dumps(row), file=log, flush=True)
