# SPDX-License-Identifier: Apache-2.0
"""A model of transformers as a contestant of bench/models.cpp and bench/predict.cpp:
python3 transformers_model.py train|predict FOLDER.

FOLDER holds job.json, weights/ and for each input of ours, as int32, idsN.bin (of all sequences, one
after the other) and lengthsN.bin (of all sequences): tokens and a class for each sequence, or those
of texts, what decoders read, and what they predict (-1: nothing). Batches are padded to their longest,
rounded up to job.json's "multiple" if it has one, before the first step. `predict` is compiled, and gives the mean of the logits' magnitudes as its
loss.
"""

import sys
import time

import torch
import transformers

from contestant import numbers, optimizer_of
from rounds import folder, job, serve

transformers.logging.set_verbosity_error()


def sequences(number):
    lengths = numbers(f"lengths{number}.bin", torch.int32).tolist()
    return numbers(f"ids{number}.bin", torch.int32).long().split(lengths)


parts = [sequences(number) for number in range(len(job["axes"]))]
replies = len(parts) == 3


def padded(some, fill=0):
    together = torch.nn.utils.rnn.pad_sequence(some, True, fill)
    return torch.nn.functional.pad(together, (0, -together.shape[1] % job.get("multiple", 1)), value=fill)


def batch(first):
    some = [part[first : first + job["sequences"]] for part in parts]
    inputs = {"input_ids": padded(some[0])}
    ends = torch.tensor([len(one) for one in some[0]])
    width = inputs["input_ids"].shape[1]
    if ends.min() < width:  # else no mask is the faster way
        inputs["attention_mask"] = (torch.arange(width) < ends[:, None]).long()
    if replies:
        inputs["decoder_input_ids"] = padded(some[1])
        labels = padded(some[2], -100)
        return inputs, labels.masked_fill(labels < 0, -100)
    return inputs, torch.cat(some[1])


batches = [batch(first) for first in range(0, len(parts[0]), job["sequences"])]
model = getattr(transformers, job["class"]).from_pretrained(
    folder / "weights", attn_implementation="sdpa"
)
taken = 0


def trained():
    model.train()
    optimizer = optimizer_of(model)

    def step():
        inputs, labels = batches[taken]
        loss = model(**inputs, labels=labels, **({"use_cache": False} if replies else {})).loss
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
