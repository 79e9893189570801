# SPDX-License-Identifier: Apache-2.0
"""The ids that Hugging Face's tokenizers gives: python3 ids_of_tokenizers.py TOKENIZER TEXTS.

TOKENIZER is a tokenizer.json, or BERT's vocab.txt of small letters. TEXTS has a JSON string a line.
Prints a line of ids with blanks between for each.
"""

import json
import sys

from tokenizers import BertWordPieceTokenizer, Tokenizer

bert = sys.argv[1].endswith(".txt")
tokenizer = BertWordPieceTokenizer(sys.argv[1]) if bert else Tokenizer.from_file(sys.argv[1])
for line in open(sys.argv[2], encoding="utf-8"):
    print(*tokenizer.encode(json.loads(line), add_special_tokens=False).ids)
