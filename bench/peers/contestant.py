# SPDX-License-Identifier: Apache-2.0
"""What contestants share that use PyTorch."""

import torch

from rounds import folder, job

torch.set_num_threads(job["threads"])


def numbers(name, dtype):
    path = folder / name
    return torch.from_file(str(path), size=path.stat().st_size // dtype.itemsize, dtype=dtype)


def keep_sines(model):
    """Keeps Marian's positions as they are: they are no weights, but transformers 5.24 lets them learn."""
    for module in model.modules():
        if type(module).__name__ == "MarianSinusoidalPositionalEmbedding":
            module.requires_grad_(False)


def optimizer_of(model):
    groups = [
        {"params": [p for p in model.parameters() if p.dim() > 1], "weight_decay": job["weight_decay"]},
        {"params": [p for p in model.parameters() if p.dim() == 1], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=job["lr"], betas=(0.9, job["beta2"]), eps=1e-8, fused=True)
