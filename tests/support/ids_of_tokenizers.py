# SPDX-License-Identifier: Apache-2.0
"""The ids that Hugging Face's tokenizers gives: python3 ids_of_tokenizers.py TOKENIZER TEXTS.

TOKENIZER is a tokenizer.json, BERT's vocab.txt of small letters, or a folder that transformers reads.
TEXTS has a JSON string a line. Prints a line of ids with blanks between for each.
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
    print(*tokenizer.encode(json.loads(line), add_special_tokens=False).ids)
