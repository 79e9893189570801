#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/data/lora.txt: what PEFT makes of small weights and adapters.

    python3 -m venv V && V/bin/pip install torch transformers peft==0.21.2
    V/bin/python scripts/lora_reference.py tests/data/lora.txt tests/unit/parameters/lora_models.hpp
    clang-format-19 -i tests/unit/parameters/lora_models.hpp

Beside two fixed models there are eight whose shapes, targets and adapters are drawn from a seed; the header has their
types. Weights and adapters are a formula of their names and places, which tests/support/references.hpp knows, too. For
each model the file has the losses of 20 steps in double precision with AdamW and clipping, without dropout, and the
logits of the merged model (merge_and_unload) after the last. Angles, norms and softmax of Llama are in double
precision, too, which transformers has in single precision whatever the model's is.
"""

import pathlib
import random
import sys

import peft
import torch
import transformers
from transformers.models.llama import modeling_llama

POSITIONS = 8
LENGTHS = [7, 3, 8, 1, 5]


class Angles(torch.nn.Module):
    """The angles of LlamaRotaryEmbedding, in double precision."""

    def __init__(self, config):
        super().__init__()
        self.width = config.hidden_size // config.num_attention_heads

    def forward(self, x, position_ids):
        slow = 10000.0 ** (-torch.arange(0, self.width, 2, dtype=torch.float64) / self.width)
        angles = position_ids[..., None].double() * slow
        angles = torch.cat([angles, angles], dim=-1)
        return angles.cos(), angles.sin()


def norm(self, x):
    """LlamaRMSNorm.forward, in double precision."""
    return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.variance_epsilon))


modeling_llama.LlamaRMSNorm.forward = norm


def gpt2(vocabulary, width, layers, heads):
    return transformers.GPT2LMHeadModel(transformers.GPT2Config(
        vocab_size=vocabulary, n_embd=width, n_layer=layers, n_head=heads, n_positions=POSITIONS, resid_pdrop=0.0,
        embd_pdrop=0.0, attn_pdrop=0.0, attn_implementation="eager"))


def llama(vocabulary, width, layers, heads, kv_heads, hidden):
    model = transformers.LlamaForCausalLM(transformers.LlamaConfig(
        vocab_size=vocabulary, hidden_size=width, intermediate_size=hidden, num_hidden_layers=layers,
        num_attention_heads=heads, num_key_value_heads=kv_heads, max_position_embeddings=POSITIONS,
        rms_norm_eps=1e-6, tie_word_embeddings=False, attn_implementation="sdpa"))
    model.model.rotary_emb = Angles(model.config)
    return model


MODELS = {
    "gpt2": ("gpt2", dict(vocabulary=19, width=16, layers=2, heads=2),
             dict(r=4, lora_alpha=6, target_modules=["c_attn", "c_proj"])),
    "llama": ("llama", dict(vocabulary=19, width=16, layers=2, heads=4, kv_heads=2, hidden=24),
              dict(r=3, lora_alpha=5, use_rslora=True, target_modules=["q_proj", "v_proj"],
                   modules_to_save=["model.norm"])),
}
MAKE = {"gpt2": gpt2, "llama": llama}
LAYERS = {"gpt2": ["c_attn", "c_proj", "c_fc"],
          "llama": ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]}
NORMS = {"gpt2": "ln_f", "llama": "model.norm"}


def drawn(seed):
    """A model and its adapters, drawn from a seed."""
    draw = random.Random(seed)
    kind = ["gpt2", "llama"][seed % 2]
    heads = draw.choice([1, 2, 4])
    shape = dict(vocabulary=draw.randint(12, 40), width=heads * draw.choice([4, 6, 8]), layers=draw.randint(1, 3),
                 heads=heads)
    if kind == "llama":
        shape |= dict(kv_heads=draw.choice([n for n in (1, 2, 4) if heads % n == 0]), hidden=draw.randint(5, 40))
    adapter = dict(r=draw.randint(1, 6), lora_alpha=draw.randint(1, 12), use_rslora=draw.random() < 0.5,
                   target_modules=draw.sample(LAYERS[kind], draw.randint(1, len(LAYERS[kind]))))
    if draw.random() < 0.5:
        adapter["modules_to_save"] = [NORMS[kind]]
    return kind, shape, adapter


MODELS |= {f"drawn_{seed}": drawn(seed) for seed in range(8)}


def type_of(kind, shape, adapter):
    """The model and the adapters as types of Sinter."""
    options = ", ".join(f".{name} = {value}" for name, value in shape.items() if name != "vocabulary")
    options += f", .vocabulary = {shape['vocabulary']}, .positions = {POSITIONS}"
    order = [".layers", ".heads", ".kv_heads", ".width", ".hidden", ".vocabulary", ".positions"]
    options = ", ".join(sorted(options.split(", "), key=lambda option: order.index(option.split(" ")[0])))
    model = f"Gpt2<{{{options}}}>" if kind == "gpt2" else f"Llama<{{{options}, .eps = 1e-6}}>"
    targets = ", ".join(f'"*.{name}"' for name in adapter["target_modules"])
    saved = "".join(f', ModulesToSave<"{name}">' for name in adapter.get("modules_to_save", []))
    rslora = str(adapter["use_rslora"]).lower()
    return (f"{model}, Lora<{{.rank = {adapter['r']}, .alpha = {adapter['lora_alpha']}, .rslora = {rslora}}}, "
            f"Targets<{targets}>{saved}>")


HEADER = """// SPDX-License-Identifier: Apache-2.0
// The models that scripts/lora_reference.py has drawn: it has written this.
#pragma once
#include "sinter/model/gpt2.hpp"
#include "sinter/model/llama.hpp"
#include "sinter/parameters/lora.hpp"

namespace sinter::detail::testing {

/// Models with adapters, as pairs, by their numbers.
template <template <class Model, class Adapter> class Made>
using DrawnLora = PolicyList<%s>;

}  // namespace sinter::detail::testing
"""


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


def batch(vocabulary):
    """Ids and targets of each sequence, as tests/unit/parameters/lora.cpp has them."""
    ids = [[(row * 7 + s * 5 + 3) % vocabulary for row in range(n)] for s, n in enumerate(LENGTHS)]
    targets = [[(row * 3 + s) % vocabulary for row in range(n)] for s, n in enumerate(LENGTHS)]
    return ids, targets


def describe(name, kind, shape, adapter):
    prefix = {"gpt2": "transformer.", "llama": "model."}[kind]
    config = peft.LoraConfig(**adapter, fan_in_fan_out=kind == "gpt2")
    model = peft.get_peft_model(MAKE[kind](**shape), config).double().train()
    set_weights(model, prefix)
    ids, targets = batch(shape["vocabulary"])
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
models = ",\n".join(f"Made<{type_of(*what)}>" for name, what in MODELS.items() if name.startswith("drawn"))
pathlib.Path(sys.argv[2]).write_text(HEADER % models)
