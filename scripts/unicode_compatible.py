#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes src/data/tokenizer/unicode_compatible.hpp: what NFKD of Hugging Face's tokenizers does beyond NFD.

    python3 -m venv V && V/bin/pip install tokenizers==0.23.3
    V/bin/python scripts/unicode_compatible.py > src/data/tokenizer/unicode_compatible.hpp
"""

import sys
import textwrap

import tokenizers
from tokenizers import normalizers

VERSION = "0.23.3"
CODES = [code for code in range(0x110000) if not 0xD800 <= code <= 0xDFFF]
nfd, nfkd = normalizers.NFD().normalize_str, normalizers.NFKD().normalize_str


def words():
    before = 0
    for code in CODES:
        text = nfkd(chr(code))
        if text != nfd(chr(code)):
            yield f"{code - before:x} {'+'.join(f'{ord(c):x}' for c in text)}"
            before = code


if tokenizers.__version__ != VERSION:
    sys.exit(f"tokenizers {tokenizers.__version__} is here, {VERSION} is wanted")
print(f"""// SPDX-License-Identifier: Apache-2.0
// Generated table: scripts/unicode_compatible.py has asked tokenizers {VERSION} about each code point. Change it
// there only.
// clang-format off
#pragma once
#include <string_view>

namespace sinter::detail::unicode {{

/// For texts_in(): full decompositions by NFKD where they differ from those by NFD.""")
print(textwrap.fill(f'inline constexpr std::string_view compatible_decompositions = R"({" ".join(words())})";', 120))
print("""
}  // namespace sinter::detail::unicode""")
