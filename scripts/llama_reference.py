#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/data/model/llama.json: what tiny models of transformers' LlamaForCausalLM, Qwen2ForCausalLM
and MistralForCausalLM give for the weights of a formula, and how they learn from it.

    python3 -m venv V && V/bin/pip install torch==2.9.1 transformers==4.57.1
    V/bin/python scripts/llama_reference.py tests/data/model/llama.json

For each model: the logits of every place of some sequences, and the losses and the gradients' norms of 20
steps of AdamW with decay of matrices and clipping; and the angles of scaled positions. tests/unit/model/llama.cpp has the same models, the
same formula and the same batches.
"""

import json
import sys

import torch
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
from transformers import (LlamaConfig, LlamaForCausalLM, MistralConfig, MistralForCausalLM, Qwen2Config,
                          Qwen2ForCausalLM)

SIZES = {"vocab_size": 13, "hidden_size": 32, "intermediate_size": 40, "num_hidden_layers": 2,
         "max_position_embeddings": 64, "bos_token_id": None, "eos_token_id": None,
         "attn_implementation": "eager"}
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 64}
MODELS = {
    "llama": LlamaForCausalLM(LlamaConfig(
        **SIZES, num_attention_heads=4, num_key_value_heads=2, rms_norm_eps=1e-5, rope_theta=100.0,
        rope_scaling=LLAMA3, tie_word_embeddings=False)),
    "biases": LlamaForCausalLM(LlamaConfig(
        **SIZES, num_attention_heads=4, num_key_value_heads=2, rms_norm_eps=1e-6, rope_theta=1000.0,
        attention_bias=True, mlp_bias=True, tie_word_embeddings=False)),
    "yarn": LlamaForCausalLM(LlamaConfig(
        **SIZES, num_attention_heads=2, num_key_value_heads=2, rms_norm_eps=1e-6, rope_theta=100.0,
        rope_scaling={"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16,
                      "beta_fast": 2.0}, tie_word_embeddings=False)),
    "dynamic": LlamaForCausalLM(LlamaConfig(
        **{**SIZES, "max_position_embeddings": 3}, num_attention_heads=2, num_key_value_heads=2,
        rms_norm_eps=1e-6, rope_theta=100.0, rope_scaling={"rope_type": "dynamic", "factor": 2.0},
        tie_word_embeddings=False)),
    "tied": LlamaForCausalLM(LlamaConfig(
        **SIZES, num_attention_heads=2, num_key_value_heads=2, rms_norm_eps=1e-6, rope_theta=10000.0,
        rope_scaling={"rope_type": "linear", "factor": 2.0}, tie_word_embeddings=True)),
    "qwen2": Qwen2ForCausalLM(Qwen2Config(
        **SIZES, num_attention_heads=4, num_key_value_heads=1, rms_norm_eps=1e-6, rope_theta=1000.0,
        tie_word_embeddings=False)),
    "mistral": MistralForCausalLM(MistralConfig(
        **SIZES, num_attention_heads=4, num_key_value_heads=2, head_dim=12, rms_norm_eps=1e-6,
        rope_theta=1000.0, sliding_window=3, tie_word_embeddings=False)),
    "qwen2_window": Qwen2ForCausalLM(Qwen2Config(
        **SIZES, num_attention_heads=4, num_key_value_heads=1, rms_norm_eps=1e-6, rope_theta=1000.0,
        use_sliding_window=True, sliding_window=4, max_window_layers=0, tie_word_embeddings=False)),
}
YARN = {"rope_type": "yarn", "original_max_position_embeddings": 32768, "factor": 4.0}
ANGLES = [{"head_dim": 128, "rope_theta": 1e6, "scaling": YARN},
          {"head_dim": 64, "rope_theta": 1e4,
           "scaling": {"rope_type": "yarn", "factor": 40.0, "original_max_position_embeddings": 4096,
                       "mscale": 0.707, "mscale_all_dim": 1.0, "truncate": False}},
          {"head_dim": 64, "rope_theta": 5e5, "scaling": {**YARN, "beta_fast": 24.0, "beta_slow": 2.0,
                                                        "attention_factor": 0.875}},
          {"head_dim": 64, "rope_theta": 1e4, "length": 6000,
           "scaling": {"rope_type": "dynamic", "factor": 2.0}},
          {"head_dim": 64, "rope_theta": 1e4, "length": 4000,
           "scaling": {"rope_type": "dynamic", "factor": 2.0}}]
LENGTHS = {"dynamic": [8, 4, 1]}  # its angles depend on the longest; others have OTHER_LENGTHS
OTHER_LENGTHS = [9, 4, 1]
STEPS, SEQUENCES, CONTEXT = 20, 4, 8
RATE, DECAY, MAX_NORM = 1e-2, 0.1, 1.0


def numbers(name, count):
    """Numbers within ±1/4 that look random: of a name, all of them a multiple of 2⁻³³."""
    key = 2166136261
    for byte in name.encode():
        key = (key ^ byte) * 16777619 % 2**32
    for k in range(count):
        h = (key + k * 2654435761) % 2**32
        h = (h ^ (h >> 15)) * 2246822519 % 2**32
        h = (h ^ (h >> 13)) * 3266489917 % 2**32
        yield (h ^ (h >> 16)) / 2**33 - 0.25


def ids(count, salt):
    return [(k * k * 7 + k * 3 + salt * 5) % SIZES["vocab_size"] for k in range(count)]


def set_weights(model):
    with torch.no_grad():
        for name, weight in model.named_parameters():
            values = torch.tensor(list(numbers(name, weight.numel())), dtype=torch.float64)
            if "norm" in name:
                values += 1
            weight.copy_(values.view(weight.shape))


def logits(model, lengths):
    rows = []
    for salt, length in enumerate(lengths):
        with torch.no_grad():
            rows += model(torch.tensor([ids(length, salt)])).logits[0].tolist()
    return rows


def curve(model):
    groups = [{"params": [p for p in model.parameters() if p.dim() > 1], "weight_decay": DECAY},
              {"params": [p for p in model.parameters() if p.dim() == 1], "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=RATE)
    losses, norms = [], []
    model.train()
    for step in range(STEPS):
        rows = [ids(CONTEXT + 1, 100 * step + s) for s in range(SEQUENCES)]
        tokens = torch.tensor([row[:-1] for row in rows])
        targets = torch.tensor([row[1:] for row in rows])
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(tokens).logits.flatten(0, 1), targets.flatten())
        loss.backward()
        norms.append(torch.nn.utils.clip_grad_norm_(model.parameters(), MAX_NORM).item())
        optimizer.step()
        losses.append(loss.item())
    return losses, norms


def angles(row):
    """Inverse frequencies and the factor of cosines and sines, in a model of 4096 positions."""
    config = LlamaConfig(hidden_size=row["head_dim"], num_attention_heads=1, head_dim=row["head_dim"],
                         max_position_embeddings=4096, rope_theta=row["rope_theta"],
                         rope_scaling=dict(row["scaling"]))
    init = ROPE_INIT_FUNCTIONS[row["scaling"]["rope_type"]]
    frequencies, factor = init(config, "cpu", seq_len=row.get("length"))
    return {**row, "frequencies": frequencies.tolist(), "factor": factor}


torch.set_num_threads(1)
reference = {"angles": [angles(row) for row in ANGLES]}
for name, model in MODELS.items():
    model.eval()
    set_weights(model)
    rows = logits(model, LENGTHS.get(name, OTHER_LENGTHS))
    losses, norms = curve(model)
    reference[name] = {"logits": rows, "losses": losses, "norms": norms}
with open(sys.argv[1], "w") as file:
    json.dump({"transformers": "4.57.1", **reference}, file, indent=None)
    file.write("\n")
