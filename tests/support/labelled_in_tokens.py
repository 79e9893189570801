# SPDX-License-Identifier: Apache-2.0
"""What Sinter's LabelledText makes of sentences, or of pairs of them, with BERT's vocabulary, by transformers.

    labelled_in_tokens.py VOCAB FILE CONTEXT           # vocab.txt; sentence TAB label, without a first line
    labelled_in_tokens.py VOCAB FILE CONTEXT pairs     # each sentence and the one before it; the first one twice

prints the number of sequences, of their tokens, of those that are cut and of those of class 1, and a hash of all
ids, types and classes. tests/unit/data/labelled_text.cpp has these figures of sst2/dev.tsv.
"""
import sys

from transformers import BertTokenizerFast

vocabulary, file, context = sys.argv[1], sys.argv[2], int(sys.argv[3])
pairs = len(sys.argv) > 4
tokenizer = BertTokenizerFast(vocab_file=vocabulary, do_lower_case=True)
sequences = tokens = cut = ones = digest = 0
before = None
with open(file, encoding="utf-8") as lines:
    for line in lines:
        text, label = line.rstrip("\n").split("\t")
        texts = [text, before or text] if pairs else [text]
        before = text
        one = tokenizer(*texts, truncation=True, max_length=context)
        whole = tokenizer(*texts)
        sequences, tokens, ones = sequences + 1, tokens + len(one["input_ids"]), ones + int(label)
        cut += len(one["input_ids"]) < len(whole["input_ids"])
        for number in one["input_ids"] + one["token_type_ids"] + [int(label)]:
            digest = (digest * 31 + number) % 2**64
print(sequences, tokens, cut, ones, digest)
