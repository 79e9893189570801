# SPDX-License-Identifier: Apache-2.0
"""The ids that SentencePiece's package gives: python3 ids_of_sentencepiece.py MODEL TEXTS.

TEXTS has a JSON string a line. Prints a line of ids with blanks between for each, then one with what
they are decoded to, as a JSON string.
"""

import json
import sys

import sentencepiece

model = sentencepiece.SentencePieceProcessor(model_file=sys.argv[1])
for line in open(sys.argv[2], encoding="utf-8"):
    ids = model.encode(json.loads(line))
    print(*ids)
    print(json.dumps(model.decode(ids)))
