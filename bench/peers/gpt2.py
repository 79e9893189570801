# SPDX-License-Identifier: Apache-2.0
"""GPT-2 by hand with PyTorch's fastest parts, for contestants in Python."""

import torch
import torch.nn.functional as F
from safetensors.torch import load_file

from rounds import folder, job


class Gpt2(torch.nn.Module):
    """Its parameters are named as in the file."""

    def __init__(self, weights):
        super().__init__()
        self.names = list(weights)
        self.weights = torch.nn.ParameterList([weights[n] for n in self.names])

    def forward(self, input_ids, labels):
        w = dict(zip(self.names, self.weights))
        width, heads = job["width"], job["heads"]

        def norm(x, name):
            return F.layer_norm(x, (width,), w[name + ".weight"], w[name + ".bias"], 1e-5)

        def linear(x, name):
            flat = torch.addmm(w[name + ".bias"], x.reshape(-1, x.size(-1)), w[name + ".weight"])
            return flat.view(*x.shape[:-1], -1)

        def attend(qkv):
            q, k, v = qkv.view(*qkv.shape[:2], 3, heads, -1).permute(2, 0, 3, 1, 4).unbind()
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=mask is None)
            return y.transpose(1, 2).reshape(*qkv.shape[:2], width)

        mask = (labels >= 0)[:, None, None, :] if job["packed"] else None
        x = F.embedding(input_ids, w["wte.weight"]) + w["wpe.weight"][: input_ids.size(1)]
        for layer in range(job["layers"]):
            h = f"h.{layer}."
            x = x + linear(attend(linear(norm(x, h + "ln_1"), h + "attn.c_attn")), h + "attn.c_proj")
            wide = F.gelu(linear(norm(x, h + "ln_2"), h + "mlp.c_fc"), approximate="tanh")
            x = x + linear(wide, h + "mlp.c_proj")
        logits = norm(x, "ln_f").flatten(0, 1) @ w["wte.weight"].t()
        return F.cross_entropy(logits, labels.flatten())


def our_model():
    weights = load_file(folder / "weights" / "model.safetensors")
    return Gpt2({name.removeprefix("transformer."): w for name, w in weights.items()})
