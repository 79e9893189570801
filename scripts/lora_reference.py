#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/data/lora.txt: what PEFT makes of small weights and adapters.

    python3 -m venv V && V/bin/pip install torch transformers peft==0.21.2
    V/bin/python scripts/lora_reference.py tests/data/lora.txt

Weights and adapters are a formula of their names and places, which tests/support/references.hpp knows,
too. For each model the file has the losses of 20 steps in double precision with AdamW and clipping,
without dropout, and the logits of the merged model (merge_and_unload) after the last.
"""

import pathlib
import sys

import peft
import torch
import transformers

VOCABULARY, WIDTH, POSITIONS = 19, 16, 8
LENGTHS = [7, 3, 8, 1, 5]

MODELS = {
    "gpt2": (lambda: transformers.GPT2LMHeadModel(transformers.GPT2Config(
        vocab_size=VOCABULARY, n_embd=WIDTH, n_layer=2, n_head=2, n_positions=POSITIONS, resid_pdrop=0.0,
        embd_pdrop=0.0, attn_pdrop=0.0, attn_implementation="eager")), "transformer.",
        dict(r=4, lora_alpha=6, target_modules=["c_attn", "c_proj"], fan_in_fan_out=True)),
    "llama": (lambda: transformers.LlamaForCausalLM(transformers.LlamaConfig(
        vocab_size=VOCABULARY, hidden_size=WIDTH, intermediate_size=24, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=POSITIONS,
        tie_word_embeddings=False, attn_implementation="eager")), "model.",
        dict(r=3, lora_alpha=5, use_rslora=True, target_modules=["q_proj", "v_proj"],
             modules_to_save=["model.norm"])),
}


def own_name(name, prefix):
    """The name that Sinter gives a parameter of a PeftModel."""
    name = name.removeprefix("base_model.model.")
    for part in (".base_layer", ".default", ".modules_to_save"):
        name = name.replace(part, "")
    return name.removeprefix(prefix) if prefix == "transformer." else name


def set_weights(model, prefix):
    """Element k of a parameter is a small number that hangs on its name and k."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            own = own_name(name.replace("original_module.", ""), prefix)
            salt = sum((place + 1) * letter for place, letter in enumerate(own.encode()))
            k = torch.arange(parameter.numel())
            value = ((k * 7919 + salt * 104729) % 2003 - 1001).double() / 4004
            if "norm" in own.lower() and own.endswith(".weight"):
                value += 1
            parameter.copy_(value.reshape(parameter.shape))


def batch():
    """Ids and targets of each sequence, as tests/unit/parameters/lora.cpp has them."""
    ids = [[(row * 7 + s * 5 + 3) % VOCABULARY for row in range(n)] for s, n in enumerate(LENGTHS)]
    targets = [[(row * 3 + s) % VOCABULARY for row in range(n)] for s, n in enumerate(LENGTHS)]
    return ids, targets


def describe(name, make, prefix, config):
    model = peft.get_peft_model(make(), peft.LoraConfig(**config)).double().train()
    set_weights(model, prefix)
    ids, targets = batch()
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(
        [{"params": [p for p in trained if p.dim() > 1], "weight_decay": 0.1},
         {"params": [p for p in trained if p.dim() == 1], "weight_decay": 0.0}],
        lr=1e-2, betas=(0.9, 0.95), eps=1e-8)
    losses = []
    for _ in range(20):
        optimizer.zero_grad()
        loss = sum(torch.nn.functional.cross_entropy(model(input_ids=torch.tensor([i])).logits[0],
                                                     torch.tensor(t), reduction="sum")
                   for i, t in zip(ids, targets)) / sum(LENGTHS)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
        losses.append(loss.item())
    print(name, losses[0], losses[-1])
    merged = model.merge_and_unload().eval()
    lines = [" ".join(f"{x:.17e}" for x in row)
             for i in ids for row in merged(input_ids=torch.tensor([i])).logits[0].detach()]
    return [name] + lines + ["losses " + " ".join(f"{x:.17e}" for x in losses)]


torch.manual_seed(0)
text = [line for name, what in MODELS.items() for line in describe(name, *what)]
pathlib.Path(sys.argv[1]).write_text("\n".join(text) + "\n")
