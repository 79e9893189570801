# SPDX-License-Identifier: Apache-2.0
"""Writes tables as Parquet files and as equal TSV or JSON lines, for tests/unit/data/parquet.cpp.

usage: python write_parquet.py FOLDER; needs pyarrow
"""
import json
import pathlib
import random
import sys

import pyarrow as pa
import pyarrow.parquet as pq

folder = pathlib.Path(sys.argv[1])
texts = random.Random(1)
ROWS = 10_000


def text(longest):
    return "".join(texts.choice("abc de.äß漢\U0001f600") for _ in range(texts.randrange(longest)))


first = [text(40) for _ in range(ROWS)]
second = [texts.choice(["yes", "no", "", "perhaps ½"]) for _ in range(ROWS)]
(folder / "table.tsv").write_text(
    "a\tn\tb\n" + "".join(f"{a}\t{n}\t{b}\n" for n, (a, b) in enumerate(zip(first, second))))


def table(a=pa.string(), b=pa.string(), nullable=True):
    schema = pa.schema([pa.field("a", a, nullable), ("n", pa.int64()), pa.field("b", b, nullable)])
    b_array = pa.array(second).dictionary_encode() if pa.types.is_dictionary(b) else pa.array(second, b)
    return pa.table([pa.array(first, a), pa.array(range(ROWS)), b_array.cast(b)], schema)


def write(name, what, **how):
    pq.write_table(what, folder / f"{name}.parquet", **how)


write("plain", table(), compression="none", use_dictionary=False)
write("groups", table(), row_group_size=3001, data_page_size=4096)
write("categories", table(b=pa.dictionary(pa.int32(), pa.string())), compression="zstd", row_group_size=999)
write("large", table(a=pa.large_string()), compression="gzip", data_page_version="2.0")
write("required", table(nullable=False), compression="brotli", write_page_checksum=True)
write("delta", table(), use_dictionary=False, compression="lz4",
      column_encoding={"a": "DELTA_BYTE_ARRAY", "n": "PLAIN", "b": "DELTA_LENGTH_BYTE_ARRAY"})
write("no_schema_of_arrow", table(b=pa.dictionary(pa.int8(), pa.string())), store_schema=False)

few = {"a": ["1", None, "3", "4"], "b": ["5", "6", None, "8"], "number": [1, 2, 3, 4],
       "list": [["x"], [], ["y"], ["z"]], "bytes": [b"x"] * 4,
       "record": [{"x": "1"}] * 4}
write("nulls", pa.table(few), row_group_size=2)
labelled = {"text": ["good", "bad", "fine"], "other": ["a", "b", "c"], "label": [1, 0, 1], "word": ["pos", "neg", "pos"],
            "digit": ["1", "0", "1"], "wrong": [1, 2, 0], "below": [0, -1, 1], "gap": [1, None, 0], "real": [0.5, -2.0, 1e-3]}
write("labelled", pa.table(labelled))
write("alpaca", pa.table({"instruction": ["up", "add", "no"], "output": ["down", "3", ""], "input": ["", "1, 2", ""]}))
for name, kind in [("int8", pa.int8()), ("int32", pa.int32()), ("uint64", pa.uint64())]:
    write(name, pa.table({"text": labelled["text"], "label": pa.array(labelled["label"], kind)}))
write("none", pa.table({"a": pa.array([], pa.string()), "b": pa.array([], pa.string())}))
many = pa.DictionaryArray.from_arrays(pa.array([0] * 100_000, pa.int32()), pa.array(["x" * 100_000]))
write("huge", pa.table({"b": many}))  # 10 GB of text
twice = pa.Table.from_arrays([pa.array(["1"]), pa.array(["2"]), pa.array(["3"])], ["a", "b", "a"])
write("twice", twice)
small = pa.table({"a": [f"question {k}" for k in range(40)], "b": ["yes", "no"] * 20})
write("small", small, row_group_size=16, write_page_checksum=True)
write("small_unchecked", small, row_group_size=16, compression="none")


def lines(name, what):
    rows = "".join(json.dumps(row) + "\n" for row in what.to_pylist())
    (folder / f"{name}.jsonl").write_text(rows)


def message(role, content, **more):
    return {"role": role, "content": content, "name": None, "weight": None, "tool_calls": None} | more


def chat(turns):
    system = [message("system", text(9) + ".")] if texts.random() < 0.3 else []
    return system + [message(texts.choice(["user", "assistant"]), text(30) + "!") for _ in range(turns)] + [
        message("assistant", "\0" + text(5))]


calls = pa.list_(pa.struct([("id", pa.string()), ("arguments", pa.list_(pa.string()))]))
parts = pa.struct([("role", pa.string()), ("content", pa.string()), ("name", pa.string()), ("weight", pa.float64()),
                   ("tool_calls", calls)])
chats = [chat(texts.randrange(6)) for _ in range(2000)]
messages = pa.table({"id": range(2000), "messages": pa.array(chats, pa.list_(parts))})
lines("messages", messages)
write("messages", messages, row_group_size=999)
write("messages_old", messages, use_compliant_nested_type=False, data_page_size=512, data_page_version="2.0",
      use_dictionary=False)
write("messages_large", messages.cast(pa.schema([("id", pa.int64()), ("messages", pa.large_list(parts))])))
sharegpt = pa.table({"conversations": [[{"from": "human", "value": "up"}, {"from": "gpt", "value": "down"}]]})
write("sharegpt", sharegpt)
lines("sharegpt", sharegpt)
up, down = message("user", "up"), message("assistant", "down")
odd = [[up, down], None, [], [up, message(None, "x")], [up, None], [up, message("assistant", None)], [up, message("tool", "x")],
       [up, message("assistant", None, tool_calls=[{"id": "1", "arguments": []}])], [up, message("assistant", "down", weight=0.5)]]
write("odd_messages", pa.table({"messages": pa.array(odd, pa.list_(parts)), "system": ["be brief"] + [None] * (len(odd) - 1)}))
write("no_role", pa.table({"messages": [[{"speaker": "user", "content": "x"}]]}))
write("flat_messages", pa.table({"messages": ["[]"]}))
write("bytes_messages", pa.table({"messages": [[{"role": "user", "content": b"x"}]]}))
write("twice_messages", pa.Table.from_arrays([messages["messages"]] * 2, ["messages"] * 2))
turns = pa.table({"turns": [[["USER", "up"], ["SYSTEM", "down"]], [["USER", "one"], ["SYSTEM", "two"], ["USER", "3"]]]})
write("turns", turns)
lines("turns", turns)
write("small_messages", messages.slice(0, 40), row_group_size=16, write_page_checksum=True)
write("small_messages_unchecked", messages.slice(0, 40), row_group_size=16, compression="none")
words = pa.table({"tokens": [["Jane", "sings"], ["so", "does", "Jo"]], "ner_tags": [[1, 0], [0, -100, 2]]})
write("words", words)
lines("words", words)
topics = pa.table({"text": ["a", "b", "c"], "labels": [[0, 2], [], [3]]})
write("topics", topics)
lines("topics", topics)
