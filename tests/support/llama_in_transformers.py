# SPDX-License-Identifier: Apache-2.0
"""Loads a folder that Sinter exported, strictly, and writes one of transformers' own for Sinter to load.

    python llama_in_transformers.py EXPORTED OWN

Prints two lines of JSON: the logits of the exported model and of the model that OWN then holds, for
every place of the sequence 0, 1, … 8.
"""

import json
import sys

import torch
from transformers import AutoModelForCausalLM

exported, own = sys.argv[1:]
model, report = AutoModelForCausalLM.from_pretrained(exported, output_loading_info=True)
for kind in ("missing_keys", "unexpected_keys", "mismatched_keys", "error_msgs"):
    assert not report[kind], (kind, report[kind])
model.eval()


def show():
    with torch.no_grad():
        print(json.dumps(model(torch.arange(9)[None]).logits[0].tolist()))


show()
torch.manual_seed(1)
with torch.no_grad():
    for weight in model.parameters():
        weight.add_(torch.randn_like(weight) * 0.1)
show()
model.save_pretrained(own)
