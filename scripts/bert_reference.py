#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/data/bert.txt: what Hugging Face's BERT, DistilBERT and RoBERTa make of small weights.

    python3 -m venv V && V/bin/pip install torch transformers==4.57.1
    V/bin/python scripts/bert_reference.py tests/data/bert.txt

Weights are a formula of their names and places, which tests/unit/model knows, too. For each
model the file has the logits of each sequence alone, in double precision, and the losses of 20 steps
with AdamW, clipping and no dropout on a padded batch with its attention mask. That the padded batch
gives the logits of sequences alone is checked here.
"""

import pathlib
import sys

import torch
import transformers

VOCABULARY, WIDTH, HIDDEN, POSITIONS, LABELS = 19, 16, 24, 8, 3
LENGTHS = [7, 3, 8, 1, 5]

BERT = dict(vocab_size=VOCABULARY, hidden_size=WIDTH, num_hidden_layers=2, num_attention_heads=2,
            intermediate_size=HIDDEN, max_position_embeddings=POSITIONS, type_vocab_size=2,
            hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
DISTILBERT = dict(vocab_size=VOCABULARY, dim=WIDTH, n_layers=2, n_heads=2, hidden_dim=HIDDEN,
                  max_position_embeddings=POSITIONS, dropout=0.0, attention_dropout=0.0,
                  seq_classif_dropout=0.0)
PAD = 1  # of RoBERTa, whose positions are counted from behind it
ROBERTA = BERT | dict(max_position_embeddings=POSITIONS + PAD + 1, pad_token_id=PAD,
                      type_vocab_size=1, layer_norm_eps=1e-5)
MODELS = {
    "bert_masked": lambda: transformers.BertForMaskedLM(transformers.BertConfig(**BERT)),
    "bert_pairs": lambda: transformers.BertForSequenceClassification(
        transformers.BertConfig(**BERT, num_labels=LABELS)),
    "distilbert_masked": lambda: transformers.DistilBertForMaskedLM(
        transformers.DistilBertConfig(**DISTILBERT)),
    "distilbert_classes": lambda: transformers.DistilBertForSequenceClassification(
        transformers.DistilBertConfig(**DISTILBERT, num_labels=LABELS)),
    "roberta_masked": lambda: transformers.RobertaForMaskedLM(
        transformers.RobertaConfig(**ROBERTA)),
    "roberta_classes": lambda: transformers.RobertaForSequenceClassification(
        transformers.RobertaConfig(**ROBERTA, num_labels=LABELS)),
    "roberta_several": lambda: transformers.RobertaForSequenceClassification(
        transformers.RobertaConfig(**ROBERTA, num_labels=LABELS,
                                   problem_type="multi_label_classification")),
    "bert_numbers": lambda: transformers.BertForSequenceClassification(
        transformers.BertConfig(**BERT, num_labels=LABELS, problem_type="regression")),
    "bert_several": lambda: transformers.BertForSequenceClassification(
        transformers.BertConfig(**BERT, num_labels=LABELS,
                                problem_type="multi_label_classification")),
    "bert_tokens": lambda: transformers.BertForTokenClassification(
        transformers.BertConfig(**BERT, num_labels=LABELS)),
    "distilbert_number": lambda: transformers.DistilBertForSequenceClassification(
        transformers.DistilBertConfig(**DISTILBERT, num_labels=1)),
    "distilbert_tokens": lambda: transformers.DistilBertForTokenClassification(
        transformers.DistilBertConfig(**DISTILBERT, num_labels=LABELS)),
}


def set_weights(model):
    """Element k of a parameter is a small number that hangs on its name and k."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            salt = sum((place + 1) * letter for place, letter in enumerate(name.encode()))
            k = torch.arange(parameter.numel())
            value = ((k * 7919 + salt * 104729) % 2003 - 1001).double() / 4004
            if "norm" in name.lower() and name.endswith(".weight"):
                value += 1
            parameter.copy_(value.reshape(parameter.shape))


def batch(kind, pad):
    """Ids, types and what is predicted of each sequence; tests/unit/model makes the same."""
    # Ids up to that of padding are left out: its embedding gets no gradient from transformers.
    first = pad + 1
    ids = [[first + (row * 7 + s * 5 + 3) % (VOCABULARY - first) for row in range(n)]
           for s, n in enumerate(LENGTHS)]
    types = [[int(row >= n // 2) for row in range(n)] for n in LENGTHS]
    if kind in ("masked", "tokens"):
        below = VOCABULARY if kind == "masked" else LABELS
        targets = [[(row * 3 + s) % below if row % 3 == 1 or n == 1 else -100
                    for row in range(n)] for s, n in enumerate(LENGTHS)]
    elif kind == "number":
        targets = [s * 0.5 - 1 for s in range(len(LENGTHS))]
    elif kind == "numbers":
        targets = [[s * 0.5 - 1 + k * 0.25 for k in range(LABELS)] for s in range(len(LENGTHS))]
    elif kind == "several":
        targets = [[float((s + k) % 2) for k in range(LABELS)] for s in range(len(LENGTHS))]
    else:
        targets = [s % LABELS for s in range(len(LENGTHS))]
    return ids, types, targets


def padded(rows, fill):
    return torch.tensor([row + [fill] * (max(LENGTHS) - len(row)) for row in rows])


def describe(name, model):
    model = model.double().train()
    set_weights(model)
    kind = name.split("_")[1]
    of_rows, pairs = kind in ("masked", "tokens"), kind == "pairs"
    pad = model.config.pad_token_id
    ids, types, targets = batch(kind, pad)
    inputs = {"input_ids": padded(ids, pad), "attention_mask": padded([[1] * n for n in LENGTHS], 0)}
    if pairs:
        inputs["token_type_ids"] = padded(types, 0)
    together = model(**inputs).logits
    lines = []
    for s, n in enumerate(LENGTHS):
        alone = {"input_ids": torch.tensor([ids[s]])}
        if pairs:
            alone["token_type_ids"] = torch.tensor([types[s]])
        logits = model(**alone).logits
        beside = together[s:s + 1, :n] if of_rows else together[s:s + 1]
        assert torch.allclose(logits, beside, rtol=0, atol=1e-12), name
        lines += [" ".join(f"{x:.9e}" for x in row) for row in logits.reshape(-1, logits.shape[-1])]

    inputs["labels"] = padded(targets, -100) if of_rows else torch.tensor(targets)
    if inputs["labels"].is_floating_point():
        inputs["labels"] = inputs["labels"].double()
    groups = [[p for p in model.parameters() if p.dim() > 1],
              [p for p in model.parameters() if p.dim() == 1]]
    optimizer = torch.optim.AdamW([{"params": groups[0], "weight_decay": 0.1},
                                   {"params": groups[1], "weight_decay": 0.0}],
                                  lr=1e-3, betas=(0.9, 0.95), eps=1e-8)
    losses = []
    for _ in range(20):
        optimizer.zero_grad()
        loss = model(**inputs).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    print(name, losses[0], losses[-1])
    return [name] + lines + ["losses " + " ".join(f"{x:.9e}" for x in losses)]


torch.manual_seed(0)
text = [line for name, make in MODELS.items() for line in describe(name, make())]
pathlib.Path(sys.argv[1]).write_text("\n".join(text) + "\n")
