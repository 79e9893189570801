#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/data/seq2seq.txt: what Hugging Face's encoder-decoders make of small weights.

    python3 -m venv V && V/bin/pip install torch transformers==4.57.1
    V/bin/python scripts/seq2seq_reference.py tests/data/seq2seq.txt

Weights are a formula of their names and places, which tests/support/references.hpp knows, too. For
each model the file has the logits of each pair of sequences alone, in double precision, and the losses
of 20 steps with AdamW, clipping and no dropout on a padded batch with its attention mask. That the
padded batch gives the logits of sequences alone is checked here.
"""

import pathlib
import sys

import torch
import transformers

VOCABULARY, WIDTH, HIDDEN, POSITIONS = 19, 16, 24, 8
TEXTS, REPLIES = [7, 3, 8, 1, 5], [4, 6, 1, 8, 3]

SIZES = dict(vocab_size=VOCABULARY, d_model=WIDTH, encoder_layers=2, decoder_layers=3,
             encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=HIDDEN,
             decoder_ffn_dim=HIDDEN, max_position_embeddings=POSITIONS, dropout=0.0,
             attention_dropout=0.0, activation_dropout=0.0, pad_token_id=0, eos_token_id=2,
             decoder_start_token_id=1, attn_implementation="eager")
MODELS = {
    "bart": lambda: transformers.BartForConditionalGeneration(
        transformers.BartConfig(**SIZES, activation_function="gelu")),
    "blenderbot_small": lambda: transformers.BlenderbotSmallForConditionalGeneration(
        transformers.BlenderbotSmallConfig(**SIZES, activation_function="gelu",
                                           scale_embedding=True)),
    "marian": lambda: transformers.MarianMTModel(
        transformers.MarianConfig(**SIZES, activation_function="swish", scale_embedding=True)),
    "parlai": lambda: transformers.MarianMTModel(
        transformers.MarianConfig(**SIZES, activation_function="relu", scale_embedding=True)),
}


def set_weights(model):
    """Element k of a parameter is a small number that hangs on its name and k."""
    trained = [(name, p) for name, p in model.named_parameters() if p.requires_grad]
    with torch.no_grad():
        for name, parameter in trained + [("final_logits_bias", model.final_logits_bias)]:
            salt = sum((place + 1) * letter for place, letter in enumerate(name.encode()))
            k = torch.arange(parameter.numel())
            value = ((k * 7919 + salt * 104729) % 2003 - 1001).double() / 4004
            if "norm" in name.lower() and name.endswith(".weight"):
                value += 1
            parameter.copy_(value.reshape(parameter.shape))


def batch():
    """The ids of texts, what decoders read and what they predict, as tests/unit/model/seq2seq.cpp."""
    # Id 0 is left out: transformers takes it for padding, whose embedding gets no gradient.
    texts = [[1 + (row * 7 + s * 5 + 3) % (VOCABULARY - 1) for row in range(n)]
             for s, n in enumerate(TEXTS)]
    replies = [[1 + (row * 11 + s * 3 + 1) % (VOCABULARY - 1) for row in range(n)]
               for s, n in enumerate(REPLIES)]
    targets = [[-100 if row == 2 else (row * 3 + s) % VOCABULARY for row in range(n)]
               for s, n in enumerate(REPLIES)]
    return texts, replies, targets


def padded(rows, fill):
    longest = max(len(row) for row in rows)
    return torch.tensor([row + [fill] * (longest - len(row)) for row in rows])


def describe(name, model):
    model = model.double().train()
    set_weights(model)
    texts, replies, targets = batch()
    inputs = {"input_ids": padded(texts, 0), "attention_mask": padded([[1] * n for n in TEXTS], 0),
              "decoder_input_ids": padded(replies, 0)}
    together = model(**inputs).logits
    lines = []
    for s, n in enumerate(REPLIES):
        logits = model(input_ids=torch.tensor([texts[s]]),
                       decoder_input_ids=torch.tensor([replies[s]])).logits
        assert torch.allclose(logits, together[s:s + 1, :n], rtol=0, atol=1e-12), name
        lines += [" ".join(f"{x:.9e}" for x in row) for row in logits.reshape(-1, VOCABULARY)]

    inputs["labels"] = padded(targets, -100)
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(
        [{"params": [p for p in trained if p.dim() > 1], "weight_decay": 0.1},
         {"params": [p for p in trained if p.dim() == 1], "weight_decay": 0.0}],
        lr=1e-3, betas=(0.9, 0.95), eps=1e-8)
    losses = []
    for _ in range(20):
        optimizer.zero_grad()
        loss = model(**inputs).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
        losses.append(loss.item())
    print(name, losses[0], losses[-1])
    return [name] + lines + ["losses " + " ".join(f"{x:.9e}" for x in losses)]


torch.manual_seed(0)
text = [line for name, make in MODELS.items() for line in describe(name, make())]
pathlib.Path(sys.argv[1]).write_text("\n".join(text) + "\n")
