#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/data/tokenizer/sentencepiece_*.json: small models, trained by SentencePiece's own Python
package, as text, and the ids and decoded texts that it gives.

    python3 -m venv V && V/bin/pip install sentencepiece==0.2.3 protobuf
    V/bin/python scripts/sentencepiece_reference.py tests/data/tokenizer

The models have no rules that change characters, which only a large table can hold; those are compared
where SINTER_PYTHON has the package.
"""

import io
import json
import pathlib
import sys

import sentencepiece
from sentencepiece import sentencepiece_model_pb2

target = pathlib.Path(sys.argv[1])

CORPUS = [
    "The quick brown fox jumps over the lazy dog, and the dog doesn't mind; it's what dogs do.",
    "We'll see whether they're right: in 2024 there were 1,234,567 of them, 89 more than before.",
    "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich.",
    "Съешь же ещё этих мягких французских булок, да выпей чаю.",
    "いろはにほへと ちりぬるを わかよたれそ つねならむ",
] * 3
TEXTS = [
    "",
    " ",
    "a",
    "Hello, world! The dog jumps.",
    "  leading,  two   blanks and trailing  ",
    "lines\n\n of\ttext \r\n",
    "<s> and </s> and <unk> <0x41> <user>the<user>",
    "Zwölf \u2581 Füchse, ещё 中文 \U0001f600\U0001f600 e\u0301\x00\x7f",
    "→",
    "→→ and →",
]
MODELS = {
    "bpe": {"vocab_size": 420, "byte_fallback": True, "remove_extra_whitespaces": False},
    "unigram": {"vocab_size": 140, "unk_surface": "?", "pad_id": 3},
    "plain": {"vocab_size": 120, "add_dummy_prefix": False, "remove_extra_whitespaces": False},
}

for name, options in MODELS.items():
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS), model_writer=written, minloglevel=2, num_threads=1,
        model_type="bpe" if name == "bpe" else "unigram", normalization_rule_name="identity",
        user_defined_symbols=["<user>"], control_symbols=["<mask>"], **options)
    proto = sentencepiece_model_pb2.ModelProto.FromString(written.getvalue())
    model = sentencepiece.SentencePieceProcessor(model_proto=written.getvalue())
    trained, normal = proto.trainer_spec, proto.normalizer_spec
    fields = {
        "type": trained.model_type,
        "byte_fallback": trained.byte_fallback,
        "unk_surface": trained.unk_surface,
        "add_dummy_prefix": normal.add_dummy_prefix,
        "remove_extra_whitespaces": normal.remove_extra_whitespaces,
        "pieces": [[piece.piece, piece.score, piece.type] for piece in proto.pieces],
        "texts": [[text, model.encode(text), model.decode(model.encode(text))] for text in TEXTS],
    }
    rows = [f" {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in fields.items()]
    (target / f"sentencepiece_{name}.json").write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
