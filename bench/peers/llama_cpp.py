# SPDX-License-Identifier: Apache-2.0
"""llama.cpp's own functions, as the package xllamacpp has them, for bench/peers/decode.py.

The package's Python classes talk to a server. Here its library is called as llama.cpp's examples do: a
batch of tokens in, logits out, and the likeliest token is taken by NumPy, which is faster than
llama.cpp's sampler.
"""

import ctypes
import importlib.metadata
import os
import struct
import sys

version = "2026.10.11549"  # whose llama.h the structs below repeat


class ModelParams(ctypes.Structure):
    _fields_ = (
        [(name, ctypes.c_void_p) for name in ("devices", "buffer_overrides")]
        + [(name, ctypes.c_int) for name in ("gpu_layers", "split_mode", "load_mode", "lazy_mode", "main_gpu")]
        + [(name, ctypes.c_void_p) for name in ("tensor_split", "progress", "progress_data", "overrides")]
        + [
            (name, ctypes.c_bool)
            for name in ("vocab_only", "check_tensors", "extra_buffers", "no_host", "no_alloc", "load_mtp")
        ]
    )


class ContextParams(ctypes.Structure):
    _fields_ = (
        [
            (name, ctypes.c_uint32)
            for name in ("ctx", "batch", "ubatch", "seq_max", "rs_seq", "outputs_max", "outputs_max_per_seq")
        ]
        + [
            (name, ctypes.c_int)
            for name in ("threads", "threads_batch", "ctx_type", "rope", "pooling", "attention", "flash_attention")
        ]
        + [
            (name, ctypes.c_float)
            for name in ("rope_base", "rope_scale", "yarn_ext", "yarn_attn", "yarn_fast", "yarn_slow")
        ]
        + [("yarn_ctx", ctypes.c_uint32), ("defrag", ctypes.c_float)]
        + [(name, ctypes.c_void_p) for name in ("eval", "eval_data")]
        + [(name, ctypes.c_int) for name in ("type_k", "type_v")]
        + [("moe_cache", ctypes.c_size_t)]
        + [(name, ctypes.c_void_p) for name in ("abort", "abort_data")]
        + [
            (name, ctypes.c_bool)
            for name in ("embeddings", "offload_kqv", "no_perf", "op_offload", "swa_full", "kv_unified")
        ]
        + [("samplers", ctypes.c_void_p), ("samplers_count", ctypes.c_size_t), ("other", ctypes.c_void_p)]
    )


class Batch(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_int32),
        ("token", ctypes.POINTER(ctypes.c_int32)),
        ("embedding", ctypes.POINTER(ctypes.c_float)),
        ("position", ctypes.POINTER(ctypes.c_int32)),
        ("sequences", ctypes.POINTER(ctypes.c_int32)),
        ("sequence", ctypes.POINTER(ctypes.POINTER(ctypes.c_int32))),
        ("logits", ctypes.POINTER(ctypes.c_int8)),
    ]


Log = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)


@Log
def print_errors(level, text, _):
    if level == 4:  # GGML_LOG_LEVEL_ERROR
        sys.stderr.write(text.decode(errors="replace"))


def load_library():
    try:
        found = importlib.metadata.version("xllamacpp")
    except importlib.metadata.PackageNotFoundError:
        sys.exit("llama.cpp: this Python has no package xllamacpp; bench/peers/requirements.txt names its version")
    if found != version:
        sys.exit(f"llama.cpp: the package xllamacpp is of version {found}, and bench/peers/llama_cpp.py knows {version}")
    import xllamacpp.xllamacpp

    library = ctypes.CDLL(xllamacpp.xllamacpp.__file__)
    pointer = ctypes.c_void_p
    for name, result, arguments in [
        ("llama_log_set", None, [Log, pointer]),
        ("llama_backend_init", None, []),
        ("llama_model_default_params", ModelParams, []),
        ("llama_model_load_from_file", pointer, [ctypes.c_char_p, ModelParams]),
        ("llama_context_default_params", ContextParams, []),
        ("llama_init_from_model", pointer, [pointer, ContextParams]),
        ("llama_get_memory", pointer, [pointer]),
        ("llama_memory_clear", None, [pointer, ctypes.c_bool]),
        ("llama_batch_init", Batch, [ctypes.c_int32, ctypes.c_int32, ctypes.c_int32]),
        ("llama_decode", ctypes.c_int32, [pointer, Batch]),
        ("llama_get_logits_ith", pointer, [pointer, ctypes.c_int32]),
    ]:
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    library.llama_log_set(print_errors, None)
    library.llama_backend_init()
    return library


def load(library, file, texts, prompt_tokens, new_tokens, threads):
    """A context with a cache for so many texts."""
    params = library.llama_model_default_params()
    params.gpu_layers, params.load_mode = 0, 1  # LLAMA_LOAD_MODE_MMAP
    model = library.llama_model_load_from_file(os.fsencode(file), params)
    if not model:
        sys.exit(f"llama.cpp does not load {file}")
    params = library.llama_context_default_params()
    params.ctx = texts * (prompt_tokens + new_tokens)
    params.batch = params.ubatch = texts * prompt_tokens
    params.seq_max = texts
    params.threads = params.threads_batch = threads
    params.flash_attention = 1
    context = library.llama_init_from_model(model, params)
    if not context:
        sys.exit(f"llama.cpp makes no context for {file}")
    return context


def generator(file, texts, prompt_tokens, new_tokens, vocabulary, threads):
    """generate(prompts, count), which returns the sum of the tokens that it wrote."""
    library = load_library()
    import numpy as np

    context = load(library, file, texts, prompt_tokens, new_tokens, threads)
    memory = library.llama_get_memory(context)
    batch = library.llama_batch_init(texts * prompt_tokens, 0, 1)

    def put(at, token, position, text, last):
        batch.token[at], batch.position[at], batch.logits[at] = token, position, last
        batch.sequences[at], batch.sequence[at][0] = 1, text

    def likeliest(row):
        logits = library.llama_get_logits_ith(context, row)
        return int(np.ctypeslib.as_array((ctypes.c_float * vocabulary).from_address(logits)).argmax())

    def decode(rows):
        batch.size = rows
        if library.llama_decode(context, batch) != 0:
            sys.exit("llama.cpp: llama_decode() failed")

    def generate(prompts, count):
        library.llama_memory_clear(memory, False)
        for text, prompt in enumerate(prompts):
            for position, token in enumerate(prompt):
                at = text * prompt_tokens + position
                put(at, token, position, text, position + 1 == prompt_tokens)
        decode(texts * prompt_tokens)
        next_tokens = [likeliest((text + 1) * prompt_tokens - 1) for text in range(texts)]
        total = sum(next_tokens)
        for position in range(prompt_tokens, prompt_tokens + count - 1):
            for text, token in enumerate(next_tokens):
                put(text, token, position, text, True)
            decode(texts)
            next_tokens = [likeliest(text) for text in range(texts)]
            total += sum(next_tokens)
        return total

    return generate


def write_q8_0(source, to):
    """Writes a GGUF file of float32 with its matrices in Q8_0, as llama-quantize chooses them."""
    try:
        from gguf import GGMLQuantizationType, GGUFReader, quants
    except ModuleNotFoundError:
        sys.exit("llama.cpp: this Python has no package gguf; bench/peers/requirements.txt names its version")
    reader, alignment = GGUFReader(source), 32
    described, parts, offset = b"", [], 0
    for tensor in reader.tensors:
        kind, numbers = tensor.tensor_type, tensor.data
        if len(tensor.shape) == 2 and tensor.name != "position_embd.weight":
            kind = GGMLQuantizationType.Q8_0
            numbers = quants.quantize(tensor.data, kind)
        name, shape = tensor.name.encode(), [int(extent) for extent in tensor.shape]
        described += struct.pack(f"<Q{len(name)}sI", len(name), name, len(shape))
        described += struct.pack(f"<{len(shape)}QIQ", *shape, kind, offset)
        parts.append(numbers.tobytes())
        parts.append(bytes(-len(parts[-1]) % alignment))
        offset += len(parts[-2]) + len(parts[-1])
    head = reader.data[: reader.tensors[0].field.offset].tobytes() + described  # the entries stay as they are
    to.write_bytes(b"".join([head, bytes(-len(head) % alignment), *parts]))
