# SPDX-License-Identifier: Apache-2.0
"""The ids that Hugging Face's tokenizers gives: python3 ids_of_tokenizers.py TOKENIZER TEXTS [all].

TOKENIZER is a tokenizer.json, BERT's vocab.txt of small letters, or a folder that transformers reads.
TEXTS has a JSON string a line. Prints a line of ids with blanks between for each. With `all` it prints an
object of JSON a line: those "ids", the "whole" ones, with the special tokens around the text, and the "text"
of the ids.
"""

import json
import pathlib
import sys

from tokenizers import BertWordPieceTokenizer, Tokenizer


def tokenizer_at(path):
    if pathlib.Path(path).is_dir():
        from transformers import AutoTokenizer

        return AutoTokenizer.from_pretrained(path).backend_tokenizer
    return BertWordPieceTokenizer(path) if path.endswith(".txt") else Tokenizer.from_file(path)


tokenizer = tokenizer_at(sys.argv[1])
tokenizer.no_truncation()
tokenizer.no_padding()
for line in open(sys.argv[2], encoding="utf-8"):
    text = json.loads(line)
    ids = tokenizer.encode(text, add_special_tokens=False).ids
    if sys.argv[3:] == ["all"]:
        print(json.dumps({"ids": ids, "whole": tokenizer.encode(text).ids,
                          "text": tokenizer.decode(ids, skip_special_tokens=False)}))
    else:
        print(*ids)
