# SPDX-License-Identifier: Apache-2.0
"""A program that generates, as a contestant of bench/decode.cpp: python3 decode.py PEER FOLDER.

FOLDER holds job.json, weights/ (GPT-2 as Hugging Face has it), and the same for llama.cpp in float32.gguf,
float16.gguf and bfloat16.gguf. Every text takes the likeliest token as often as asked, whatever it is.
"""

import os
import sys
import time

from rounds import folder, job

threads, new_tokens = job["threads"], job["new_tokens"]


def with_transformers():
    import torch
    from transformers import AutoModelForCausalLM

    torch.set_num_threads(threads)
    model = AutoModelForCausalLM.from_pretrained(folder / "weights", dtype=torch.float32)
    model.generation_config.eos_token_id = None

    def generate(prompts, count):
        ids = torch.tensor(prompts)
        with torch.inference_mode():
            out = model.generate(
                ids,
                attention_mask=torch.ones_like(ids),
                max_new_tokens=count,
                do_sample=False,
                pad_token_id=0,
            )
        return out[:, ids.size(1) :].sum().item()

    return generate


def convert_for_ctranslate2(to):
    import ctranslate2
    from tokenizers import Tokenizer, models
    from transformers import PreTrainedTokenizerFast

    words = {f"t{k}": k for k in range(job["vocabulary"])}
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(models.WordLevel(words, unk_token="t0")), bos_token="t0", eos_token="t0", unk_token="t0"
    )
    tokenizer.save_pretrained(folder / "weights")
    ctranslate2.converters.TransformersConverter(str(folder / "weights")).convert(str(to), force=True)


def with_ctranslate2(compute_type="float32"):
    converted = folder / f"ctranslate2_{compute_type}"
    if os.fork() == 0:  # the converter's memory is not the generator's
        convert_for_ctranslate2(converted)
        os._exit(0)
    if os.wait()[1] != 0:
        sys.exit("the conversion for CTranslate2 failed")
    import ctranslate2

    model = ctranslate2.Generator(
        str(converted), device="cpu", compute_type=compute_type, inter_threads=1, intra_threads=threads
    )

    def generate(prompts, count):
        results = model.generate_batch(
            [[f"t{token}" for token in prompt] for prompt in prompts],
            max_length=count,
            min_length=count,
            sampling_topk=1,
            end_token=[],
            include_prompt_in_result=False,
        )
        return sum(sum(result.sequences_ids[0]) for result in results)

    return generate


def with_llama_cpp(kind):
    import llama_cpp

    file = folder / f"{kind}.gguf"
    if kind == "q8_0" and os.fork() == 0:  # the quantizer's memory is not the generator's
        llama_cpp.write_q8_0(folder / "float32.gguf", file)
        os._exit(0)
    if kind == "q8_0" and os.wait()[1] != 0:
        sys.exit("the quantization for llama.cpp failed")
    prompts = job["prompts"][0]
    return llama_cpp.generator(file, len(prompts), len(prompts[0]), new_tokens, job["vocabulary"], threads)


def main():
    generate = {
        "transformers": with_transformers,
        "ctranslate2": with_ctranslate2,
        "ctranslate2_int8": lambda: with_ctranslate2("int8"),
        "llama_float32": lambda: with_llama_cpp("float32"),
        "llama_bfloat16": lambda: with_llama_cpp("bfloat16"),
        "llama_float16": lambda: with_llama_cpp("float16"),
        "llama_q8_0": lambda: with_llama_cpp("q8_0"),
    }[sys.argv[1]]()
    prompts = iter(job["prompts"])

    def take():
        texts = next(prompts)
        begin = time.process_time()
        generate(texts, 1)
        first = time.process_time()
        total = generate(texts, new_tokens)
        each = (time.process_time() - first - (first - begin)) / (new_tokens - 1)
        print("STEP", 1e3 * each, total, flush=True)

    take()
    for _ in sys.stdin:
        take()


main()
