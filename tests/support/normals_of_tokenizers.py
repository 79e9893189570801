# SPDX-License-Identifier: Apache-2.0
"""What the normalisers of Hugging Face's tokenizers make of every code point.

    python3 normals_of_tokenizers.py > tests/data/tokenizer/normals.txt

Prints a line for each block of 4,096 code points: its first, and for each normaliser the CRC-32 of all
that it makes of the block's texts, with a newline behind each. The text of a code point c is
"a" c "B" c U+0301 U+0323 c U+0327. `words` is where BertPreTokenizer cuts what `bert` makes, a word a line.
"""

import zlib

from tokenizers import normalizers, pre_tokenizers

NORMALIZERS = {
    "NFC": normalizers.NFC(),
    "NFD": normalizers.NFD(),
    "Lowercase": normalizers.Lowercase(),
    "StripAccents": normalizers.StripAccents(),
    "bert": normalizers.BertNormalizer(),
    "bert_cased": normalizers.BertNormalizer(lowercase=False),
}
cut = pre_tokenizers.BertPreTokenizer().pre_tokenize_str


def text_of(c):
    return f"a{c}B{c}\u0301\u0323{c}\u0327"


def crc(lines):
    return format(zlib.crc32("".join(line + "\n" for line in lines).encode()), "08x")


print("block", *NORMALIZERS, "words")
for first in range(0, 0x110000, 4096):
    codes = [c for c in range(first, first + 4096) if not 0xD800 <= c <= 0xDFFF]
    made = {
        name: [normalizer.normalize_str(text_of(chr(c))) for c in codes]
        for name, normalizer in NORMALIZERS.items()
    }
    words = [word for text in made["bert"] for word, _ in cut(text)]
    print(format(first, "x"), *map(crc, made.values()), crc(words))
