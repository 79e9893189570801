# SPDX-License-Identifier: Apache-2.0
"""A model of transformers as a contestant of bench/models.cpp and bench/predict.cpp:
python3 transformers_model.py train|predict FOLDER.

FOLDER holds job.json, weights/ and, as int32, ids.bin (all sequences, one after the other),
lengths.bin (of all sequences) and labels.bin (a class for each). Batches are padded to their longest
before the first step. `predict` is compiled, and gives the mean of the logits' magnitudes as its
loss.
"""

import sys
import time

import torch
import transformers

from contestant import folder, job, numbers, optimizer_of, serve

transformers.logging.set_verbosity_error()
lengths = numbers("lengths.bin", torch.int32).tolist()
labels = numbers("labels.bin", torch.int32).long().split(job["sequences"])
parts = numbers("ids.bin", torch.int32).long().split(lengths)


def batch(first):
    some = parts[first : first + job["sequences"]]
    ids = torch.nn.utils.rnn.pad_sequence(some, True, 0)
    inputs = {"input_ids": ids}
    ends = torch.tensor([len(one) for one in some])
    if ends.min() < ids.size(1):  # else no mask is the faster way
        inputs["attention_mask"] = (torch.arange(ids.size(1)) < ends[:, None]).long()
    return inputs


batches = [batch(first) for first in range(0, len(parts), job["sequences"])]
model = getattr(transformers, job["class"]).from_pretrained(
    folder / "weights", attn_implementation="sdpa"
)
taken = 0


def trained():
    model.train()
    optimizer = optimizer_of(model)

    def step():
        loss = model(**batches[taken], labels=labels[taken]).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), job["max_norm"], foreach=True)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss

    return step


def predicting():
    model.eval()
    more = {"logits_to_keep": 1, "use_cache": False} if job["class"].endswith("LMHeadModel") else {}
    forward = torch.compile(lambda inputs: model(**inputs, **more).logits)

    def step():
        with torch.inference_mode():
            return forward(batches[taken]).abs().mean()

    return step


step = {"train": trained, "predict": predicting}[sys.argv[1]]()


def take(n):
    global taken
    begin = time.perf_counter()
    for _ in range(n):
        result = step()
        taken += 1
    return (time.perf_counter() - begin) * 1000 / n, result


serve(take)
