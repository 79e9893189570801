# SPDX-License-Identifier: Apache-2.0
"""Loads a model and an adapter that Sinter has written, merges them, and makes an adapter of its own.

    python lora_in_peft.py BASE ADAPTER MERGED OWN

BASE is a folder of transformers, ADAPTER one of PEFT. Writes the merged model to MERGED, and to OWN an
adapter of the same options with other numbers. Prints the logits of a sequence as two rows of JSON:
with ADAPTER, and with OWN.
"""

import json
import sys

import peft
import torch
import transformers

base, adapter, merged, own = sys.argv[1:]
ids = torch.tensor([[0, 1, 2, 3, 4, 5, 6, 7]])


def logits_of(model):
    with torch.no_grad():
        return model.eval()(input_ids=ids).logits.flatten().tolist()


def read():
    return transformers.AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32)


model = peft.PeftModel.from_pretrained(read(), adapter)
config = model.peft_config["default"]
print(json.dumps(logits_of(model)))
model.merge_and_unload().save_pretrained(merged)

config.inference_mode = False
model = peft.get_peft_model(read(), config)
torch.manual_seed(1)
with torch.no_grad():
    for parameter in model.parameters():
        if parameter.requires_grad:
            parameter.copy_(torch.randn_like(parameter) / 4)
print(json.dumps(logits_of(model)))
model.save_pretrained(own)
