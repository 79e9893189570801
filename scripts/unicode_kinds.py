#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes src/data/tokenizer/unicode_kinds.hpp: which characters are letters, numbers and white space.

    python3 -m venv V && V/bin/pip install unicodedata2==16.0.0
    V/bin/python scripts/unicode_kinds.py > src/data/tokenizer/unicode_kinds.hpp

Tokenizers split text by these, and with the tables of another version they split it elsewhere. The
version is that of tiktoken and of Hugging Face's tokenizers. White space is Unicode's White_Space.
"""

import itertools
import sys
import textwrap

import unicodedata2

VERSION = "16.0.0"
KINDS = ["other", "letter", "number", "space"]  # as CharacterKind has them
SPACES = [*range(0x9, 0xE), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B)]
SPACES += [0x2028, 0x2029, 0x202F, 0x205F, 0x3000]


def kind_of(code):
    if code in SPACES:
        return "space"
    return {"L": "letter", "N": "number"}.get(unicodedata2.category(chr(code))[0])


def ranges():
    begin = 0
    for kind, run in itertools.groupby(range(0x110000), kind_of):
        end = begin + len(list(run))
        if kind:
            yield begin, end - 1, kind
        begin = end


def words():
    at = 0
    for first, last, kind in ranges():
        yield f"{first - at:x} {last - first:x} {KINDS.index(kind)}"
        at = last


if unicodedata2.unidata_version != VERSION:
    sys.exit(f"unicodedata2 has Unicode {unicodedata2.unidata_version}, {VERSION} is wanted")
print(f"""// SPDX-License-Identifier: Apache-2.0
// Generated table: scripts/unicode_kinds.py has written it from Unicode {VERSION}. Change it there only.
// clang-format off
#pragma once
#include <string_view>

namespace sinter::detail {{

/// For unicode::ranges_in(): values are those of CharacterKind; characters in no range are `other`.""")
print(textwrap.fill(f'inline constexpr std::string_view character_ranges = R"({" ".join(words())})";', 120))
print("""
}  // namespace sinter::detail""")
