# SPDX-License-Identifier: Apache-2.0
"""A model of transformers that learns, as a contestant of bench/learn.cpp: python3 learn.py METHOD FOLDER.

FOLDER holds job.json, batches (job_batches.py) and weightsN/. Its first step, and each round, is a whole
run: the first from weights1/ on the first batches, the next from weights2/ on those behind, and so on.
The last batches of a run are held out. Before a STEP it prints "FACT n loss" for each of the first steps,
and "FACT held_out loss".
"""

import math
import sys

import torch
import transformers
from transformers.pytorch_utils import Conv1D

import job_batches
import library_optimizers
from contestant import keep_sines
from rounds import folder, job, serve

transformers.logging.set_verbosity_error()
transformers.logging.disable_progress_bar()
method = sys.argv[1]
batches = [job_batches.inputs_and_targets(first) for first in job_batches.firsts]
models = []  # kept, as bitsandbytes knows parameters by their addresses


def turned(conv):
    """The same layer with a row for each output, as Muon's scale wants it."""
    linear = torch.nn.Linear(*conv.weight.shape)
    linear.weight = torch.nn.Parameter(conv.weight.detach().t().contiguous())
    linear.bias = conv.bias
    return linear


def model_of(run):
    kind = getattr(transformers, job["class"])
    model = kind.from_pretrained(folder / f"weights{run}", attn_implementation="sdpa")
    model.config.use_cache = False
    keep_sines(model)
    if method == "muon":
        for name, module in list(model.named_modules()):
            if isinstance(module, Conv1D):
                model.set_submodule(name, turned(module))
    models.append(model)
    return model


def optimizers_of(model):
    kinds = job["parameters"]
    named = [(name.removeprefix("transformer."), p) for name, p in model.named_parameters()]
    pairs = [(p, kinds[name]) for name, p in named if p.requires_grad]
    makers = {
        "fp32": [library_optimizers.adamw],
        "autocast": [library_optimizers.adamw],
        "adamw8bit": [library_optimizers.adamw8bit],
        "adafactor": [library_optimizers.transformers_adafactor],
        "muon": [library_optimizers.muon, library_optimizers.others],
    }
    return [make(pairs) for make in makers[method]]


def factor(step):
    """Of the rate in a step, from 1: a line, then half a cosine."""
    done = max(0, step - 1 - job["warmup"]) / (job["steps"] - job["warmup"])
    return min(1, step / job["warmup"]) * (1 + math.cos(math.pi * done)) / 2


def losses(model, number):
    """The sum of the losses of a batch, and how many they are."""
    inputs, targets = batches[number]
    wanted = job_batches.labels(targets).flatten()
    with torch.autocast("cpu", torch.bfloat16, enabled=method == "autocast"):
        logits = model(**inputs).logits
    loss = torch.nn.functional.cross_entropy(logits.float().flatten(0, 1), wanted, reduction="sum")
    return loss, (wanted >= 0).sum()


def require_bytes(optimizers):
    states = [state for o in optimizers for state in o.state.values()]
    if not any(t.dtype == torch.uint8 for state in states for t in state.values() if torch.is_tensor(t)):
        sys.exit("bitsandbytes keeps no state in 8 bits on this processor.")


def train(model, first):
    model.train()
    optimizers = optimizers_of(model)
    for step in range(1, job["steps"] + 1):
        total, count = losses(model, first + step - 1)
        loss = total / count
        if step <= job["told"]:
            print("FACT", step, float(loss.detach()))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), job["max_norm"])
        for optimizer in optimizers:
            for group in optimizer.param_groups:
                group["lr"] = job["lr"] * factor(step)
            optimizer.step()
        model.zero_grad(set_to_none=True)
    if method == "adamw8bit":
        require_bytes(optimizers)


def held_out(model, first):
    model.eval()
    with torch.no_grad():
        sums = [losses(model, number) for number in range(first, first + job["held_out"])]
    return float(sum(loss for loss, _ in sums) / sum(count for _, count in sums))


def take(_):
    """Takes a whole run, whose time is not measured."""
    first = len(models) * (job["steps"] + job["held_out"])
    model = model_of(len(models) + 1)
    train(model, first)
    loss = held_out(model, first + job["steps"])
    print("FACT held_out", loss)
    return 0.0, loss


serve(take)
