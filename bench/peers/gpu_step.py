# SPDX-License-Identifier: Apache-2.0
"""PyTorch as a contestant of the benches in bench/gpu: python3 gpu_step.py eager|compile FOLDER.

FOLDER holds job.json, weights/ as Hugging Face has them and, as int32, ids.bin and targets.bin. All
batches are on the device before the first step. Of "model", gpt2 is written by hand, others are
classes of transformers. Products are in bf16 by autocast, with weights and AdamW's state in fp32.
"""

import sys
import time

import torch

from contestant import numbers, optimizer_of
from gpt2 import our_model
from rounds import folder, job, serve

word, device = sys.argv[1], job["device"]


def batches(name, columns):
    sequences = numbers(name, torch.int32).long().view(-1, job["sequences"], columns)
    return sequences.squeeze(-1).to(device)


ids = batches("ids.bin", job["context"])
targets = batches("targets.bin", 1 if job["labels"] else job["context"])


def model_of_job():
    if job["model"] == "gpt2":
        return our_model()
    import transformers

    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    model = getattr(transformers, job["model"]).from_pretrained(
        folder / "weights", attn_implementation="sdpa"
    )
    return model.float()


model = model_of_job().to(device)
model.train()
optimizer = optimizer_of(model)
forward = model if word == "eager" else torch.compile(model)


def loss_of(batch):
    with torch.autocast(device, torch.bfloat16):
        result = forward(input_ids=ids[batch], labels=targets[batch])
    return result if torch.is_tensor(result) else result.loss


taken = 0


def take(n):
    global taken
    begin = time.perf_counter()
    for _ in range(n):
        loss = loss_of(taken)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), job["max_norm"], foreach=True)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        taken += 1
    value = loss.item()  # waits for the card
    return (time.perf_counter() - begin) * 1000 / n, value


serve(take)
