# SPDX-License-Identifier: Apache-2.0
"""Reads a GGUF file by the package gguf, which llama.cpp's authors publish.

    python gguf_contents.py FILE

Prints one line of JSON: the values of its entries, and the shape (outermost first) and the numbers of its
tensors.
"""

import json
import sys

from gguf import GGUFReader, GGMLQuantizationType
from gguf.quants import dequantize

reader = GGUFReader(sys.argv[1])
entries = {key: field.contents() for key, field in reader.fields.items() if not key.startswith("GGUF.")}
tensors = {}
for tensor in reader.tensors:
    values = dequantize(tensor.data, GGMLQuantizationType(tensor.tensor_type))
    tensors[tensor.name] = {"shape": [int(n) for n in reversed(tensor.shape)],
                            "values": values.astype("float64").ravel().tolist()}
print(json.dumps({"entries": entries, "tensors": tensors}))
