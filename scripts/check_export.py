#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Loads a folder that `export` has written with transformers, and compares what that gives with Sinter.

    python3 scripts/check_export.py FOLDER EXPECTED

EXPECTED is a file of JSON with the keys "texts", "ids" (of each text, as `tokenize --json --special-tokens off` gives
them) and "logits" (of each text, as `predict --json` gives them). A classifier's pipeline must name the class with the
largest logit; another model's pipeline must continue a text. Instead of "texts" and "ids" there may be "inputs" (of each
sequence, what the model's forward() takes), for a model with another head. Prints what was compared, and ends with the
code 1 at a difference. tests/binary/export.cpp and label_kinds.cpp run it where SINTER_PYTHON has torch and transformers.
"""

import json
import pathlib
import sys

import torch
from transformers import (AutoConfig, AutoModelForCausalLM, AutoModelForMaskedLM, AutoModelForSeq2SeqLM,
                          AutoModelForSequenceClassification, AutoModelForTokenClassification, AutoTokenizer, pipeline)

KINDS = {"ForCausalLM": AutoModelForCausalLM, "LMHeadModel": AutoModelForCausalLM, "ForMaskedLM": AutoModelForMaskedLM,
         "ForSequenceClassification": AutoModelForSequenceClassification,
         "ForTokenClassification": AutoModelForTokenClassification,
         "ForConditionalGeneration": AutoModelForSeq2SeqLM, "MTModel": AutoModelForSeq2SeqLM}


def kind_of(architecture):
    return next(kind for ending, kind in KINDS.items() if architecture.endswith(ending))


def largest_difference(model, inputs, logits):
    with torch.no_grad():
        found = model(**inputs).logits.float()
    return (found.reshape(-1) - torch.tensor(logits).reshape(-1)).abs().max().item()


def compare_inputs(model, expected):
    worst = 0.0
    for inputs, logits in zip(expected["inputs"], expected["logits"], strict=True):
        tensors = {name: torch.tensor([ids]) for name, ids in inputs.items()}
        worst = max(worst, largest_difference(model, tensors, logits))
    assert worst < 2e-5, f"logits differ by {worst}"
    print(f"the same logits (within {worst:.1e}) of {len(expected['inputs'])} sequences by {type(model).__name__}")


def main():
    folder, expected = sys.argv[1], json.loads(pathlib.Path(sys.argv[2]).read_text())
    config = AutoConfig.from_pretrained(folder)
    kind = kind_of(config.architectures[0])
    model, loading = kind.from_pretrained(folder, dtype=torch.float32, output_loading_info=True)
    model.eval()
    assert type(model).__name__ == config.architectures[0], f"{kind} loads a {type(model).__name__}"
    assert not loading["missing_keys"], f"made up by transformers: {loading['missing_keys']}"
    if "inputs" in expected:
        compare_inputs(model, expected)
        return
    classifies = kind is AutoModelForSequenceClassification
    tokenizer = AutoTokenizer.from_pretrained(folder)
    assert len(tokenizer) <= config.vocab_size, f"{len(tokenizer)} tokens for a model of {config.vocab_size}"
    run = pipeline("text-classification" if classifies else "text-generation", model=folder, device="cpu",
                   dtype=torch.float32)
    worst = 0.0
    for text, ids, logits in zip(expected["texts"], expected["ids"], expected["logits"], strict=True):
        assert tokenizer(text, add_special_tokens=False)["input_ids"] == ids, f"other ids for {text!r}"
        if not classifies:
            assert tokenizer.decode(ids) == text, f"{tokenizer.decode(ids)!r} is not {text!r}"
        inputs = tokenizer(text, return_tensors="pt") if classifies else {"input_ids": torch.tensor([ids])}
        worst = max(worst, largest_difference(model, inputs, logits))
        if classifies:
            best = max(range(config.num_labels), key=lambda k: logits[0][k])
            assert run(text)[0]["label"] == config.id2label[best], f"another class for {text!r}"
        else:
            run(text, max_new_tokens=3, do_sample=False)
    assert worst < 2e-5, f"logits differ by {worst}"
    print(f"the same ids and logits (within {worst:.1e}) of {len(expected['texts'])} texts by {type(tokenizer).__name__}, "
          f"{type(model).__name__} and the pipeline {run.task}")


if __name__ == "__main__":
    main()
