#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Refuses words that a reader reads twice: in comments of public headers, on pages, and in names of tests.

usage: words.py [PATH…]        by default all public headers, pages and tests

A comment of a header (include/) begins with none of: Of, Those, That of, The same, Does so, Likewise. Tools show it
apart from what stands above it. No sentence there or on a page (*.md) has more than 35 words. No name of a test case
begins with: so, and, it. Exit status 1 if something is refused; each refusal names its file and line.
"""
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent
max_words = 35
fragments = re.compile(r"(Of|Those|That of|The same|Does so|Likewise)\b")
no_names = re.compile(r"(so|and|it)\b", re.I)
abbreviations = re.compile(r"\b(e\.g|i\.e|vs|etc|cf)\.")
# Each begins a text of its own: a contract's word, an item of a list, and what is indented as a table is.
own_text = re.compile(r"(requires|ensures|returns|throws)\b|[-*•] |\d+\. |\s{2,}\S|\S+\s{2,}\S")


def sentences(text):
    text = abbreviations.sub(r"\1", re.sub(r"`[^`]*`", "code", text))
    text = re.sub(r"\]\([^)]*\)", "]", text)
    return re.split(r"(?<=[.!?])[)\"'*]*\s+", text)


def long_sentences(number, text):
    for sentence in sentences(text):
        count = len(re.findall(r"[\w'’-]*\w[\w'’-]*", sentence))
        if count > max_words:
            yield number, f"a sentence of {count} words, the most are {max_words}: “{sentence[:60]}…”"


def comment_texts(lines):
    """Of a C++ file: (line, text, begins) for each text of its comments; begins says whether a comment begins there."""
    number, texts, kind = 0, [], None
    for position, line in enumerate(lines, 1):
        match = re.match(r"\s*(//+<?)(?!/)\s?(.*)", line)
        trailing = None if match else re.search(r"\S.*?\s(///?<)\s?(.*)", line)
        if trailing:
            kind = trailing[1]
            texts.append([position, trailing[2], True])
        elif match and not match[2].startswith("SPDX"):
            words = match[2]
            goes_on = kind is not None and (match[1] == kind or (match[1] == "//" and kind == "//"))
            if not words.strip():
                kind = kind and kind + " "
            elif goes_on and not own_text.match(words):
                texts[-1][1] += " " + words.strip()
            else:
                texts.append([position, words.strip(), kind is None or kind.strip() != match[1]])
                kind = match[1]
        else:
            kind = None
    return texts


def refusals_of_header(lines):
    for number, text, begins in comment_texts(lines):
        if begins and (match := fragments.match(text)):
            yield number, f"a comment begins with “{match[1]}”. Begin with what is described: “{text[:60]}…”"
        yield from long_sentences(number, text)


def refusals_of_page(lines):
    fenced, number, text = False, 0, ""
    for position, line in enumerate(lines + [""], 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
            line = ""
        elif fenced:
            continue
        table = line.lstrip().startswith("|")
        if not line.strip() or table or re.match(r"\s*([-*] |\d+\. |#|>)", line):
            yield from long_sentences(number, text.strip())
            number, text = position, "" if table else line
            for cell in line.split("|") if table else []:
                yield from long_sentences(position, cell)
        else:
            number = number if text.strip() else position
            text += " " + line.strip()


def refusals_of_test(lines):
    for number, line in enumerate(lines, 1):
        if (match := re.match(r'\s*TEST_CASE(?:_TEMPLATE)?\("(.*)', line)) and no_names.match(match[1]):
            yield number, f"a test's name begins with “{match[1].split()[0]}”. Begin with what it is about."


def main():
    if any(argument in ("-h", "--help") for argument in sys.argv[1:]):
        print(__doc__)
        return 0
    paths = [pathlib.Path(name).resolve() for name in sys.argv[1:]] or [
        path for pattern in ("include/**/*.hpp", "tests/**/*.cpp", "*.md", "docs/**/*.md", "include/**/*.md", "examples/**/*.md")
        for path in sorted(root.glob(pattern))]
    count = 0
    for path in paths:
        lines = path.read_text(encoding="utf8").splitlines()
        check = refusals_of_page if path.suffix == ".md" else refusals_of_test if "tests" in path.parts else refusals_of_header
        for number, refusal in check(lines):
            count += 1
            print(f"{path.relative_to(root) if path.is_relative_to(root) else path}:{number}: {refusal}")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
