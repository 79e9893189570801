#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The logits that transformers gives at each position, for tests.

    predict_with_transformers.py FOLDER FILE

FOLDER is a Hugging Face folder of a causal language model; each line of FILE is {"ids": [...]}. Prints
{"logits": [[...], ...]} for each of them.
"""

import json
import sys

import torch
from transformers import AutoModelForCausalLM

torch.set_num_threads(1)
model = AutoModelForCausalLM.from_pretrained(sys.argv[1]).eval()
with torch.no_grad(), open(sys.argv[2]) as lines:
    for line in lines:
        logits = model(torch.tensor([json.loads(line)["ids"]])).logits[0]
        print(json.dumps({"logits": logits.tolist()}))
