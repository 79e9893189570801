# SPDX-License-Identifier: Apache-2.0
"""Writes texts with models in folders that Sinter exported, with transformers' generate().

    python generate_with_transformers.py REQUESTS

A line of REQUESTS is an object with "folder", the ids "prompt", "options" of generate(), and numbers
from 0 to 1, "draws", which are taken in turn where torch would draw. For each it prints an object with
"texts": their "tokens" without the one that ends the text, and the "score", which without beams is the sum
of the log-probabilities that the model gives the tokens, before any rule. Greedy texts also have "gaps": how
far each token's deciding score, that of its end included, is above the next one's.
"""

import json
import sys

import torch
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, GenerationConfig


def until_end(tokens, ends):
    for place, token in enumerate(tokens):
        if token in ends:
            return tokens[:place]
    return tokens


def sum_of_log_probabilities(logits, tokens):
    return sum(torch.log_softmax(step[0].double(), -1)[token].item() for step, token in zip(logits, tokens))


def gaps(scores):
    """How far the largest score is above the next one, which is -inf where only one token may follow."""
    largest = [step[0].topk(2).values.tolist() for step in scores]
    return [min(first - second, 1e9) for first, second in largest]


def multinomial_by(draws):
    """torch.multinomial of one row without replacement, by numbers from 0 to 1."""

    def multinomial(weights, num_samples):
        left = weights[0].double().clone()
        # One token is drawn from likelier ones on, several as they stand.
        order = torch.arange(len(left))
        if num_samples == 1:
            order = torch.sort(left, descending=True, stable=True).indices
        chosen = []
        for _ in range(num_samples):
            reached = torch.cumsum(left[order], 0)
            place = int(torch.searchsorted(reached, next(draws) * reached[-1], right=True))
            chosen.append(int(order[place]))
            left[chosen[-1]] = 0
        # The likeliest first, as transformers 5.24 takes them; older versions do not sort.
        return torch.tensor([sorted(chosen, key=lambda token: -weights[0, token])])

    return multinomial


for line in open(sys.argv[1]):
    request = json.loads(line)
    torch.multinomial = multinomial_by(iter(request["draws"]))
    replies = "decoder_start_token_id" in request["options"]
    kind = AutoModelForSeq2SeqLM if replies else AutoModelForCausalLM
    model = kind.from_pretrained(request["folder"]).eval()
    model.generation_config = GenerationConfig()
    options = GenerationConfig(pad_token_id=0, **request["options"])
    prompt = torch.tensor([request["prompt"]])
    with torch.no_grad():
        found = model.generate(
            prompt,
            attention_mask=torch.ones_like(prompt),
            generation_config=options,
            output_scores=True,
            output_logits=True,
            return_dict_in_generate=True,
        )
    begin = 1 if replies else prompt.shape[1]
    scores = getattr(found, "sequences_scores", None)
    is_greedy = scores is None and not request["options"].get("do_sample")
    texts = [
        {
            "tokens": until_end(row[begin:].tolist(), request["options"]["eos_token_id"]),
            "score": scores[k].item() if scores is not None
            else sum_of_log_probabilities(found.logits, row[begin:].tolist()),
            **({"gaps": gaps(found.scores)} if is_greedy else {}),
        }
        for k, row in enumerate(found.sequences)
    ]
    print(json.dumps({"texts": texts}))
