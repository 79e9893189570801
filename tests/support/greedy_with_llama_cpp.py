# SPDX-License-Identifier: Apache-2.0
"""Continues texts by their likeliest tokens with llama.cpp, for tests/unit/hugging_face/gguf_texts.cpp.

    python greedy_with_llama_cpp.py FILE TOKENS FIRST END PROMPT…

FILE is a GGUF file, and each PROMPT a list of ids in JSON. Ids from FIRST to END - 1 are not written. Prints a line of JSON for each: the ids that
follow, and the logarithms of their probabilities. Needs the package xllamacpp.
"""

import json
import sys

import xllamacpp

file, tokens, first, end, *prompts = sys.argv[1:]
suppressed = [[token, False] for token in range(int(first), int(end))]
params = xllamacpp.CommonParams()
params.model.path = file
params.n_parallel = 1
params.warmup = False
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
params.cache_type_k = params.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_F32
server = xllamacpp.Server(params)
for prompt in prompts:
    answer = server.handle_completions({
        "prompt": json.loads(prompt), "max_tokens": int(tokens), "temperature": 0, "ignore_eos": True,
        "cache_prompt": False, "logprobs": 1, "logit_bias": suppressed})
    written = answer["choices"][0]["logprobs"]["content"]
    print(json.dumps({"tokens": [token["id"] for token in written],
                      "log_probabilities": [token["logprob"] for token in written]}))
