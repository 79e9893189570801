# SPDX-License-Identifier: Apache-2.0
"""What Sinter's Dialogue makes of dialogues with GPT-2's tokenizer, by the package tokenizers.

    dialogue_in_tokens.py FOLDER FILE    # with encoder.json and vocab.bpe; JSON lines of dialogues

prints the number of examples, of predicted tokens and of tokens of contexts, and a hash of all ids, for two
turns of history, contexts of up to 48 tokens and labels of up to 32. tests/unit/data/example_files.cpp has
these figures of dialogue/dev.turns.jsonl.
"""
import json
import sys

from tokenizers import Tokenizer, models, pre_tokenizers

folder, file = sys.argv[1:]
with open(folder + "/encoder.json", encoding="utf-8") as text:
    vocabulary = json.load(text)
with open(folder + "/vocab.bpe", encoding="utf-8") as text:
    merges = [tuple(line.split(" ")) for line in text.read().split("\n")[1:] if line]
tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
end, line_break = vocabulary["<|endoftext|>"], tokenizer.encode("\n").ids

examples = predicted = shown = digest = 0
with open(file, encoding="utf-8") as lines:
    for line in filter(str.strip, lines):
        turns = [one.ids for one in tokenizer.encode_batch([turn[1] for turn in json.loads(line)["turns"]])]
        for k in range(1, len(turns)):
            context = turns[k - 1] if k < 2 else turns[k - 2] + line_break + turns[k - 1]
            context, label = context[-48:], (turns[k] + [end])[:32]
            examples, predicted, shown = examples + 1, predicted + len(label), shown + len(context)
            for token in context + ([end] + turns[k])[: len(label)] + label:
                digest = (digest * 31 + token) % 2**64
print(examples, predicted, shown, digest)
