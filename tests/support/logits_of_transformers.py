# SPDX-License-Identifier: Apache-2.0
"""Loads a folder as transformers does, with nothing missing and nothing left over, and prints the
logits of sequences, one row a line.

    python logits_of_transformers.py FOLDER CLASS < LINES

CLASS is one of transformers. A line is the ids of a sequence; behind a bar may follow their types, or
of an encoder-decoder what its decoder reads.
"""

import sys

import torch
import transformers

folder, name = sys.argv[1:]
config = transformers.AutoConfig.from_pretrained(folder)
if config.architectures != [name]:
    sys.exit(f"config.json says {config.architectures}")
model, info = getattr(transformers, name).from_pretrained(folder, output_loading_info=True)
if any(info.values()):
    sys.exit(f"not loaded as it is: {info}")
model.double().eval()
for line in sys.stdin:
    ids, *others = [torch.tensor([[int(x) for x in part.split()]]) for part in line.split("|")]
    name_of_others = "decoder_input_ids" if config.is_encoder_decoder else "token_type_ids"
    more = {name_of_others: others[0]} if others else {}
    with torch.no_grad():
        logits = model(input_ids=ids, **more).logits
    for row in logits.reshape(-1, logits.shape[-1]):
        print(*(f"{x:.9e}" for x in row))
