# SPDX-License-Identifier: Apache-2.0
"""An optimizer of a Python library as a contestant of bench/optimizers.cpp:
python3 optimizers.py OPTIMIZER FOLDER.

FOLDER holds job.json and, as float32, all parameters one after the other: weights.bin,
gradients.bin, and updated.bin, which is what our first step makes of them. A step clips the
gradients' norm and updates; that alone is timed. Before it, as in training, gradients are written
anew and weights are read. Prints before the first STEP "FACT apart x", how far its change of the
weights is from ours, relative to ours, and "FACT state x", bytes of state a parameter.
"""

import math
import sys
import time

import torch

from contestant import numbers
from library_optimizers import adamw, adamw8bit, groups, muon, others, transformers_adafactor
from rounds import job, serve

kinds = job["parameters"]
sizes = [math.prod(k["shape"]) for k in kinds]


def tensor(part, kind):
    """Muon's scale is that of matrices with a row for each output."""
    whole = part.view(kind["shape"])
    turned = kind["hidden"] and kind["shape"][0] != kind["fan_out"]
    return whole.t().contiguous() if turned else whole.clone()


def tensors(name):
    parts = numbers(name, torch.float32).split(sizes)
    return [tensor(part, kind) for part, kind in zip(parts, kinds)]


parameters = [torch.nn.Parameter(w) for w in tensors("weights.bin")]
gradients = tensors("gradients.bin")
for p in parameters:
    p.grad = torch.empty_like(p)


pairs = list(zip(parameters, kinds))
lr, momentum = job["lr"], job["momentum"]


def sgd(nesterov):
    return torch.optim.SGD(parameters, lr=lr, momentum=momentum, nesterov=nesterov, fused=True)


def torch_adafactor():
    eps = (1e-15, 1e-3)  # the first is squared: ours, and transformers'
    return torch.optim.Adafactor(parameters, lr=lr, eps=eps, weight_decay=0.0, foreach=True)


def lion():
    import bitsandbytes

    return bitsandbytes.optim.Lion(groups(pairs), lr=lr)


class Unrounded(torch.overrides.TorchFunctionMode):
    """torch.optim.Muon rounds to bf16; here it does not."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        if function is torch.Tensor.bfloat16:
            return args[0].clone()
        return function(*args, **(kwargs or {}))


def unrounded(optimizer):
    step = optimizer.step

    def unrounded_step():
        with Unrounded():
            step()

    optimizer.step = unrounded_step
    return optimizer


def compiled(optimizer):
    optimizer.step = torch.compile(optimizer.step)
    return optimizer


makers = {
    "adamw": lambda: [adamw(pairs)],
    "adamw-compiled": lambda: [compiled(adamw(pairs, fused=False))],
    "adam": lambda: [torch.optim.Adam(parameters, lr=lr, fused=True)],
    "sgd": lambda: [sgd(nesterov=False)],
    "nesterov": lambda: [sgd(nesterov=True)],
    "adafactor": lambda: [transformers_adafactor(pairs)],
    "torch-adafactor": lambda: [torch_adafactor()],
    "muon": lambda: [muon(pairs), others(pairs)],
    "muon-fp32": lambda: [unrounded(muon(pairs)), others(pairs)],
    "muon-compiled": lambda: [compiled(muon(pairs)), others(pairs)],
    "adamw8bit": lambda: [adamw8bit(pairs)],
    "lion": lambda: [lion()],
}
optimizers = makers[sys.argv[1]]()
first = True


def tell_facts():
    before, ours = tensors("weights.bin"), tensors("updated.bin")
    with torch.no_grad():
        apart = sum((p - u).double().square().sum() for p, u in zip(parameters, ours))
        change = sum((u - w).double().square().sum() for u, w in zip(ours, before))
    print("FACT apart", float((apart / change).sqrt()))
    held = [state for o in optimizers for state in o.state.values()]
    tables = {}  # bitsandbytes' tables of codes are shared
    for state in held:
        tables.update({t.data_ptr(): t.nbytes for t in state.values() if torch.is_tensor(t)})
    print("FACT state", sum(tables.values()) / sum(sizes))


def take(steps):
    global first
    taken = 0.0
    for _ in range(steps):
        with torch.no_grad():
            torch._foreach_copy_([p.grad for p in parameters], gradients)
            torch._foreach_norm(parameters)
        begin = time.perf_counter()
        torch.nn.utils.clip_grad_norm_(parameters, job["max_norm"], foreach=True)
        for optimizer in optimizers:
            optimizer.step()
        taken += time.perf_counter() - begin
        if first:
            tell_facts()
            first = False
    return taken * 1000 / steps, 0.0


serve(take)
