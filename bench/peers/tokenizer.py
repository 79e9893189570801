# SPDX-License-Identifier: Apache-2.0
"""A tokenizer of Python as a contestant of bench/tokenizer.cpp, on one thread:
python3 tokenizer.py PEER FOLDER, FOLDER holding job.json and the text.

A step is the whole text, a line a document; what it prints as its loss is the number of ids.
"""

import json
import os
import pathlib
import sys
import time

os.environ["RAYON_NUM_THREADS"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
folder = pathlib.Path(sys.argv[2])
files = pathlib.Path(json.loads((folder / "job.json").read_text())["tokenizer"])
lines = [line for line in (folder / "text").read_bytes().decode("utf-8").split("\n") if line]


def gpt2_of_tokenizers():
    from tokenizers import Tokenizer, models, pre_tokenizers

    merges = (files / "vocab.bpe").read_text(encoding="utf-8").split("\n")[1:]
    vocabulary = json.loads((files / "encoder.json").read_text(encoding="utf-8"))
    pairs = [tuple(line.split(" ")) for line in merges if line]
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=pairs))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return tokenizer


def tokenizers():
    tokenizer = gpt2_of_tokenizers()
    return lambda: sum(
        len(e.ids) for e in tokenizer.encode_batch_fast(lines, add_special_tokens=False)
    )


def tiktoken():
    import tiktoken
    from tiktoken.load import data_gym_to_mergeable_bpe_ranks

    ranks = data_gym_to_mergeable_bpe_ranks(str(files / "vocab.bpe"), str(files / "encoder.json"))
    pattern = (
        r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"""
    )
    encoding = tiktoken.Encoding(
        name="gpt2", pat_str=pattern, mergeable_ranks=ranks, special_tokens={}
    )
    return lambda: sum(len(encoding.encode_ordinary(line)) for line in lines)


def gigatoken():
    import awkward
    import gigatoken

    tokenizer = gigatoken.Tokenizer.from_json(gpt2_of_tokenizers().to_str())
    return lambda: int(awkward.count(tokenizer.encode_batch(lines, parallel=False), axis=None))


encode = {"tokenizers": tokenizers, "tiktoken": tiktoken, "gigatoken": gigatoken}[sys.argv[1]]()


def step():
    begin = time.perf_counter()
    ids = encode()
    print("STEP", (time.perf_counter() - begin) * 1000, ids, flush=True)


step()
for _ in sys.stdin:
    step()
