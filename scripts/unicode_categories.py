#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes src/data/tokenizer/unicode_categories.hpp: what patterns of Hugging Face's tokenizers match.

    python3 -m venv V && V/bin/pip install tokenizers==0.23.3
    V/bin/python scripts/unicode_categories.py > src/data/tokenizer/unicode_categories.hpp

It asks tokenizers itself about every code point: its regular expressions, its Digits and its `single_word`
have tables of three versions of Unicode.
"""

import sys
import textwrap

import tokenizers
from tokenizers import AddedToken, Regex, Tokenizer, models, pre_tokenizers

VERSION = "0.23.3"
CATEGORIES = "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Co".split()
CODES = [code for code in range(0x110000) if not 0xD800 <= code <= 0xDFFF]
CHUNKS = [CODES[at : at + 4096] for at in range(0, len(CODES), 4096)]


def matched(pattern):
    """The code points that a regular expression of one character matches."""
    cut = pre_tokenizers.Split(Regex(pattern), "removed", invert=True)
    for chunk in CHUNKS:
        for piece, _ in cut.pre_tokenize_str("".join(map(chr, chunk))):
            yield from map(ord, piece)


def numeric():
    """Those that Digits cuts off the letters on both sides."""
    digits = pre_tokenizers.Digits(individual_digits=True)
    for chunk in CHUNKS:
        text = "".join(f"a{chr(code)}a" for code in chunk)
        yield from (ord(piece) for piece, _ in digits.pre_tokenize_str(text) if len(piece) == 1 and piece != "a")


def word():
    """Those beside which a token with single_word is not found."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.add_tokens([AddedToken("<q>", single_word=True, normalized=False)])
    for chunk in CHUNKS:
        text = "".join(f" <q>{chr(code)}" for code in chunk)
        found = {begin for begin, _ in tokenizer.encode(text).offsets}
        yield from (code for k, code in enumerate(chunk) if 5 * k + 1 not in found)


values = [0] * 0x110000
for number, category in enumerate(CATEGORIES, 1):
    for code in matched(rf"\p{{{category}}}"):
        values[code] += number
for bit, codes in [(32, matched(r"\w")), (64, word()), (128, numeric())]:
    for code in codes:
        values[code] += bit


def words():
    at = begin = 0
    for code in range(1, 0x110001):
        if code < 0x110000 and values[code] == values[begin]:
            continue
        if values[begin]:
            yield f"{begin - at:x} {code - 1 - begin:x} {values[begin]:x}"
            at = code - 1
        begin = code


if tokenizers.__version__ != VERSION:
    sys.exit(f"tokenizers {tokenizers.__version__} is here, {VERSION} is wanted")
print(f"""// SPDX-License-Identifier: Apache-2.0
// Generated table: scripts/unicode_categories.py has asked tokenizers {VERSION} about each code point. Change it
// there only.
// clang-format off
#pragma once
#include <string_view>

namespace sinter::detail::unicode {{

/// The names of general categories, the first of which has the number 1; 0 is Cn, that of no character.
inline constexpr std::string_view category_names = "{" ".join(CATEGORIES)}";

/// For ranges_in(): the number of the category, and 32 for a \\w of patterns, 64 for a character that is a
/// part of a word beside a token with single_word, 128 for a digit of Digits.""")
print(textwrap.fill(f'inline constexpr std::string_view categories = R"({" ".join(words())})";', 120))
print("""
}  // namespace sinter::detail::unicode""")
