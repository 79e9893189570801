# SPDX-License-Identifier: Apache-2.0
"""Trains a byte-level BPE with Hugging Face's tokenizers, as train-tokenizer does:

    python3 train_with_tokenizers.py SIZE MIN_FREQUENCY OUT TEXT... [--special TOKEN...]

tests/data/tokenizer/trained.json was made so, by version 0.23.3, in that folder:
500 2 trained.json trained.txt --special "<|endoftext|>"
"""

import argparse

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

parser = argparse.ArgumentParser()
parser.add_argument("size", type=int)
parser.add_argument("min_frequency", type=int)
parser.add_argument("out")
parser.add_argument("texts", nargs="+")
parser.add_argument("--special", nargs="*", default=[])
given = parser.parse_args()

tokenizer = Tokenizer(models.BPE())
tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
tokenizer.decoder = decoders.ByteLevel()
trainer = trainers.BpeTrainer(
    vocab_size=given.size,
    min_frequency=given.min_frequency,
    special_tokens=given.special,
    initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    show_progress=False,
)
tokenizer.train(given.texts, trainer)
tokenizer.save(given.out, pretty=False)
