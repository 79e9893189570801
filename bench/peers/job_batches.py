# SPDX-License-Identifier: Apache-2.0
"""The batches of a folder for models of transformers.

The folder holds for each input of ours, as int32, idsN.bin (of all sequences, one after the other) and
lengthsN.bin (of all sequences): tokens and a target for each token or sequence, or those of texts, what
decoders read, and what they predict (-1: nothing). Batches are padded to their longest, rounded up to
job.json's "multiple" if it has one.
"""

import torch

from contestant import numbers
from rounds import job


def sequences(number):
    lengths = numbers(f"lengths{number}.bin", torch.int32).tolist()
    return numbers(f"ids{number}.bin", torch.int32).long().split(lengths)


parts = [sequences(number) for number in range(len(job["axes"]))]
replies = len(parts) == 3
firsts = range(0, len(parts[0]), job["sequences"])


def padded(some, fill=0):
    together = torch.nn.utils.rnn.pad_sequence(some, True, fill)
    return torch.nn.functional.pad(together, (0, -together.shape[1] % job.get("multiple", 1)), value=fill)


def inputs_and_targets(first):
    """The inputs of the model for the batch that begins with sequence `first`, and its targets, by sequence."""
    some = [part[first : first + job["sequences"]] for part in parts]
    inputs = {"input_ids": padded(some[0])}
    ends = torch.tensor([len(one) for one in some[0]])
    width = inputs["input_ids"].shape[1]
    if ends.min() < width:  # else no mask is the faster way
        inputs["attention_mask"] = (torch.arange(width) < ends[:, None]).long()
    if replies:
        inputs["decoder_input_ids"] = padded(some[1])
    return inputs, some[-1]


def labels(targets):
    """The targets of tokens, as a tensor that transformers' losses read."""
    together = padded(targets, -100)
    return together.masked_fill(together < 0, -100)
