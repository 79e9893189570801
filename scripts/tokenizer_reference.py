#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/data/tokenizer: small tokenizers, trained by Hugging Face's tokenizers, and the ids that
it and tiktoken give to the texts below.

    python3 -m venv V && V/bin/pip install tokenizers==0.23.3 tiktoken==0.14.0
    V/bin/python scripts/tokenizer_reference.py GPT2_FOLDER tests/data/tokenizer

GPT2_FOLDER holds GPT-2's encoder.json and vocab.bpe. A training that is done again may order equal
merges in another way; the files stay as they are unless something is to be added.
"""

import json
import pathlib
import random
import sys

import tiktoken
from tiktoken.load import data_gym_to_mergeable_bpe_ranks
from tokenizers import AddedToken, BertWordPieceTokenizer, Regex, Tokenizer, decoders, models
from tokenizers import normalizers, pre_tokenizers, processors, trainers

source, target = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])

LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
GPT2 = r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"""
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]

CORPUS = [
    "The quick brown fox jumps over the lazy dog, and the dog doesn't mind; it's what dogs do.",
    "We'll see whether they're right: in 2024 there were 1,234,567 of them, 89 more than before.",
    "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich.",
    "Съешь же ещё этих мягких французских булок, да выпей чаю.",
    "いろはにほへと ちりぬるを わかよたれそ つねならむ",
    "def f(x):\n    return x + 1  # one more\n\n\nclass A:\n\tpass\n",
] * 3

TEXTS = [
    "",
    " ",
    "a",
    "Hello, world!",
    " leading and trailing ",
    "it's IT'S we'Ll they'VE I'm I'd you'RE don't DON'T '\u017f x'\u017f",
    "numbers 1 12 123 1234 12345 \u00b2\u00bd\u0663\u2167 1,234.5",
    "blanks  two   three\t\ttabs\u00a0\u3000wide \n\n  lines\r\n\r\n x\n",
    "  \t x \u2028y\u2029 \u0085z  ",
    "!?... (x) [y] -- $%^ \n\n!!\n\nx/y //\r\n",
    "Zw\u00f6lf gro\u00dfe \u0421\u044a\u0435\u0448\u044c \u3044\u308d\u306f\u4e2d\u6587 \ud55c\uad6d",
    "emoji \U0001f600\U0001f469\u200d\U0001f4bb flags \U0001f1e9\U0001f1ea e\u0301 n\u0303",
    "\U0001e2d0's \U00016d40's \U000105c0's \U0001ccf0's",  # letters and numbers since Unicode 14 … 16
    "<|endoftext|> x<|end|><|end|>> <s>a</s> <0x41> \u2581 \u2581\u2581b",
    "\x00\x01\x7f\u0080\uffff\U0010ffff",
    "x" * 300 + " " * 200 + "ab" * 150 + "1" * 100,
    "def f(x):\n    return {'a': x[0]}  # it's\n\n\tpass",
    "x [lstrip] new  word New Word nEW\tWORD\u00e9 [CLS] [MASK]. The \u0130\u1e9e\u03a3 \ufffd\u00ad\u200bfox",
    "e\u0323\u0302\u1ec7 \u1100\u1161\u11a8\uac01\u3131 \u212b\u0958\u2126 \u0344\u1e9b\u0323",
]


def train(pre_tokenizer, size, **options):
    tokenizer = Tokenizer(models.BPE(**options))
    tokenizer.pre_tokenizer = pre_tokenizer
    over_bytes = not options
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        show_progress=False,
        special_tokens=[] if over_bytes else ["<unk>", "<s>", "</s>", *BYTES],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet() if over_bytes else [],
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    return tokenizer


def byte_level(pattern, ignore_merges=False, normalizer=None):
    cut = pre_tokenizers.Split(Regex(pattern), "isolated")
    bytes_ = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer = train(pre_tokenizers.Sequence([cut, bytes_]), 400)
    if normalizer:
        tokenizer.normalizer = normalizer  # as in Qwen2's own file
    tokenizer.model.ignore_merges = ignore_merges
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["<|endoftext|>", "<|end|>"])
    tokenizer.add_tokens([AddedToken("<|end|>>", lstrip=True, rstrip=True)])
    end = tokenizer.token_to_id("<|endoftext|>")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<|endoftext|> $A", special_tokens=[("<|endoftext|>", end)]
    )
    return tokenizer


def byte_fallback(normalizer, pre_tokenizer):
    options = dict(unk_token="<unk>", byte_fallback=True, fuse_unk=True)
    tokenizer = train(pre_tokenizers.Metaspace(), 450, **options)
    tokenizer.pre_tokenizer = pre_tokenizer  # None is no pre-tokenizer
    tokenizer.normalizer = normalizer
    to_blanks = [decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse()]
    tokenizer.decoder = decoders.Sequence([*to_blanks, decoders.Strip(" ", 1, 0)])
    file = json.loads(tokenizer.to_str())
    file["added_tokens"] = file["added_tokens"][:3]  # the bytes are tokens of the vocabulary alone
    return Tokenizer.from_str(json.dumps(file))


def wordpiece(lowercase):
    tokenizer = BertWordPieceTokenizer(lowercase=lowercase)
    tokenizer.train_from_iterator(CORPUS, vocab_size=400, show_progress=False)
    tokenizer.add_tokens(["New Word", AddedToken("[lstrip]", lstrip=True, normalized=False)])
    tokenizer.add_tokens([".", "!", "n't", "'s", "'", "do not", "a . b 're"])  # decoding mends them
    return tokenizer


def prefixed():
    tokenizer = train(pre_tokenizers.ByteLevel(add_prefix_space=True), 300)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


blanks = [normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")]
tokenizers = {
    "llama3": byte_level(LLAMA3, ignore_merges=True),
    "qwen2": byte_level(QWEN2),
    "nfc": byte_level(QWEN2, normalizer=normalizers.NFC()),
    "prefixed": prefixed(),
    "llama2": byte_fallback(normalizers.Sequence(blanks), None),
    "mistral": byte_fallback(None, pre_tokenizers.Metaspace(prepend_scheme="first", split=False)),
    "bert_uncased": wordpiece(lowercase=True),
    "bert_cased": wordpiece(lowercase=False),
}
ranks = data_gym_to_mergeable_bpe_ranks(str(source / "vocab.bpe"), str(source / "encoder.json"))
gpt2 = tiktoken.Encoding(name="gpt2", pat_str=GPT2, mergeable_ranks=ranks, special_tokens={})

target.mkdir(parents=True, exist_ok=True)
lines = []
for text in TEXTS:
    ids = {"gpt2": gpt2.encode_ordinary(text)}
    for name, tokenizer in tokenizers.items():
        ids[name] = tokenizer.encode(text, add_special_tokens=False).ids
    lines.append(json.dumps({"text": text, "ids": ids}))
(target / "ids.jsonl").write_text("\n".join(lines) + "\n")
lines = []
random = random.Random(1)
for name in ["bert_uncased", "bert_cased"]:
    for count in range(60):
        ids = random.choices(range(tokenizers[name].get_vocab_size()), k=count % 20)
        text = tokenizers[name].decode(ids, skip_special_tokens=False)
        lines.append(json.dumps({"name": name, "ids": ids, "text": text}))
(target / "decoded.jsonl").write_text("\n".join(lines) + "\n")
for name, tokenizer in tokenizers.items():
    file = json.loads(tokenizer.to_str())
    (target / f"{name}.json").write_text(json.dumps(file, ensure_ascii=True) + "\n")
