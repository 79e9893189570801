# SPDX-License-Identifier: Apache-2.0
"""Optimizers of Python libraries with the settings of ours, for contestants.

`pairs` are all parameters of a model, each with what job.json says of it: whether it is "decayed", an
"embedding", or a "hidden" matrix that Muon takes.
"""

import torch

from rounds import job

lr = job["lr"]


def where(pairs, holds):
    return [p for p, kind in pairs if holds(kind)]


def groups(pairs, holds=lambda kind: True):
    return [
        {"params": where(pairs, lambda k: holds(k) and k["decayed"]), "weight_decay": job["weight_decay"]},
        {"params": where(pairs, lambda k: holds(k) and not k["decayed"]), "weight_decay": 0.0},
    ]


def adamw(pairs, fused=True, **chosen):
    return torch.optim.AdamW(groups(pairs, **chosen), lr=lr, fused=fused, foreach=not fused)


def transformers_adafactor(pairs):
    from transformers.optimization import Adafactor

    return Adafactor([p for p, _ in pairs], lr=lr, scale_parameter=False, relative_step=False)


def muon(pairs):
    """For hidden matrices alone: others() is for all else."""
    hidden = where(pairs, lambda kind: kind["hidden"])
    return torch.optim.Muon(hidden, lr=lr, weight_decay=job["weight_decay"])


def others(pairs):
    return adamw(pairs, holds=lambda kind: not kind["hidden"])


def adamw8bit(pairs):
    import bitsandbytes

    manager = bitsandbytes.optim.GlobalOptimManager.get_instance()
    manager.register_parameters([p for p, _ in pairs])
    for p in where(pairs, lambda kind: kind["embedding"]):  # as Hugging Face Trainer, and ours
        manager.override_config(p, "optim_bits", 32)
    return bitsandbytes.optim.AdamW8bit(groups(pairs), lr=lr)
