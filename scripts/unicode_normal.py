#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes src/data/tokenizer/unicode_normal.hpp: what Hugging Face's tokenizers does with each character.

    python3 -m venv V && V/bin/pip install tokenizers==0.23.3
    V/bin/python scripts/unicode_normal.py > src/data/tokenizer/unicode_normal.hpp

It asks tokenizers itself about every code point, for its tables are of no one version of Unicode: marks
and punctuation are older than decompositions, and those are older than small letters.
"""

import sys
import textwrap
import unicodedata

import tokenizers
from tokenizers import normalizers, pre_tokenizers

VERSION = "0.23.3"
HANGUL = range(0xAC00, 0xAC00 + 11172)  # is decomposed by a formula
CODES = [code for code in range(0x110000) if not 0xD800 <= code <= 0xDFFF]


def bert(**options):
    off = dict(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False)
    return normalizers.BertNormalizer(**{**off, **options}).normalize_str


nfc, nfd = normalizers.NFC().normalize_str, normalizers.NFD().normalize_str
lower = normalizers.Lowercase().normalize_str
combining = normalizers.StripAccents().normalize_str
clean, chinese, strip = bert(clean_text=True), bert(handle_chinese_chars=True), bert(strip_accents=True)
words = pre_tokenizers.BertPreTokenizer().pre_tokenize_str


def traits_of(code):
    """The sum of the enumerators of unicode_traits.hpp that hold."""
    c = chr(code)
    return (
        (clean(c) == "")
        + 2 * (chinese(c) != c)
        + 4 * (nfd(c) == c and strip(c) == "")
        + 8 * (combining(c) == "")
        + 16 * (len(words(f"a{c}b")) == 3)
    )


def class_marks():
    """A character of each combining class that tokenizers knows; classes of characters never change."""
    marks = {1: "\u0334"}
    for c in map(chr, CODES):
        if unicodedata.combining(c) > 1 and nfd(c + marks[1]) == marks[1] + c:
            marks.setdefault(unicodedata.combining(c), c)
    return sorted(marks.items())


MARKS = class_marks()
MARKS_TEXT = "".join(mark for _, mark in MARKS)


def class_of(code):
    """Where sorting puts it among a character of each class tells its own."""
    c = chr(code)
    if nfd(c) != c:
        return 0
    at = nfd(MARKS_TEXT + c).rindex(c)
    if at == len(MARKS) and nfd(c + MARKS[0][1]).startswith(c):
        return 0
    number, mark = MARKS[at - 1]
    assert at > 0 and nfd(c + mark) == c + mark and nfd(mark + c) == mark + c
    return number


def ranges(value_of):
    begin, value = 0, value_of(0)
    for code in CODES[1:] + [0x110000]:
        new = value_of(code) if code < 0x110000 else None
        if new != value or code == 0xE000:
            if value:
                yield begin, (0xD7FF if code == 0xE000 else code - 1), value
            begin, value = code, new


def changed(change, but=()):
    for code in CODES:
        if change(chr(code)) != chr(code) and code not in but:
            yield code, [ord(c) for c in change(chr(code))]


def compositions():
    pairs = {}
    for code, parts in changed(nfd, but=HANGUL):
        if nfc(chr(code)) != chr(code):
            continue
        text = "".join(map(chr, parts))
        first, second = nfc(text[:-1]), text[-1]
        assert len(first) == 1 and nfc(first + second) == chr(code)
        pairs[first + second] = code
    for code in CODES:  # pairs of another version that tokenizers may know without decomposing them
        parts = unicodedata.decomposition(chr(code)).split()
        if len(parts) == 2 and parts[0][0] != "<":
            text = "".join(chr(int(part, 16)) for part in parts)
            assert len(nfc(text)) != 1 or text in pairs or len(nfd(text)) > 2
    for text, code in sorted(pairs.items()):
        yield ord(text[0]), ord(text[1]), code


def table(comment, name, entries):
    """Entries begin with a character, from which the distance to that of the entry before is written."""
    words, before = [], 0
    for code, text, after in entries:
        words.append(f"{code - before:x} {text}")
        before = after
    print(f"/// {comment}")
    print(textwrap.fill(f'inline constexpr std::string_view {name} = R"({" ".join(words)})";', 120) + "\n")


def of_ranges(value_of):
    return ((first, f"{last - first:x} {value:x}", last) for first, last, value in ranges(value_of))


def of_texts(entries):
    return ((code, "+".join(f"{part:x}" for part in parts), code) for code, parts in entries)


if tokenizers.__version__ != VERSION:
    sys.exit(f"tokenizers {tokenizers.__version__} is here, {VERSION} is wanted")
print(f"""// SPDX-License-Identifier: Apache-2.0
// Generated tables: scripts/unicode_normal.py has asked tokenizers {VERSION} about each code point, as that is of no
// one version of Unicode. Change them there only.
// clang-format off
#pragma once
#include <string_view>

namespace sinter::detail::unicode {{
""")
table("For ranges_in(): sums of Traits; characters in no range have none.", "traits", of_ranges(traits_of))
table("For ranges_in(): canonical combining classes; those of others are 0.", "combining_classes", of_ranges(class_of))
full = "For texts_in(): full canonical decompositions, without Hangul's."
table(full, "decompositions", of_texts(changed(nfd, but=HANGUL)))
table("For texts_in(): small letters.", "small_letters", of_texts(changed(lower)))
pairs = ((first, f"{second:x} {composed:x}", first) for first, second, composed in compositions())
table("For compositions_in(), without Hangul's.", "compositions", pairs)
print("}  // namespace sinter::detail::unicode")
