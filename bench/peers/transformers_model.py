# SPDX-License-Identifier: Apache-2.0
"""A model of transformers as a contestant of bench/models.cpp and bench/predict.cpp:
python3 transformers_model.py train|predict FOLDER.

FOLDER holds job.json, weights/ and batches (job_batches.py), which are made before the first step. `predict`
is compiled, and gives the mean of the logits' magnitudes as its loss.
"""

import sys
import time

import torch
import transformers

from contestant import keep_sines, optimizer_of
from job_batches import firsts, inputs_and_targets, labels, replies
from rounds import folder, job, serve

transformers.logging.set_verbosity_error()


def batch(first):
    inputs, targets = inputs_and_targets(first)
    return inputs, labels(targets) if replies else torch.cat(targets)


batches = [batch(first) for first in firsts]
model = getattr(transformers, job["class"]).from_pretrained(
    folder / "weights", attn_implementation="sdpa"
)
taken = 0


def trained():
    model.train()
    keep_sines(model)
    optimizer = optimizer_of(model)

    def step():
        inputs, wanted = batches[taken]
        loss = model(**inputs, labels=wanted, **({"use_cache": False} if replies else {})).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), job["max_norm"], foreach=True)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss

    return step


def logits_of(inputs):
    """Those of the class, or of what follows."""
    if replies:
        last = model.model(**inputs, use_cache=False).last_hidden_state[:, -1]
        return model.lm_head(last) + model.final_logits_bias
    more = {"logits_to_keep": 1, "use_cache": False} if job["class"].endswith("LMHeadModel") else {}
    return model(**inputs, **more).logits


def predicting():
    model.eval()
    forward = torch.compile(logits_of)

    def step():
        with torch.inference_mode():
            return forward(batches[taken][0]).abs().mean()

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
