# SPDX-License-Identifier: Apache-2.0
"""JAX as a contestant of bench/step.cpp: python3 step_jax.py jit FOLDER. FOLDER is as in step.py.

The whole step is one jitted function whose parameters and state are donated; the optimizer is optax's.
"""

import os
import time

from rounds import folder, job, serve

os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: job["threads"]])
if os.environ.get("ATEN_CPU_CAPABILITY") == "avx2":
    os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_cpu_max_isa=AVX2"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax  # noqa: E402  the processors are chosen before
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import optax  # noqa: E402
from safetensors.numpy import load_file  # noqa: E402

heads, width, shape = job["heads"], job["width"], (-1, job["sequences"], job["context"])
ids, targets = (
    [jnp.asarray(one) for one in np.fromfile(folder / f"{name}.bin", np.int32).reshape(shape)]
    for name in ("ids", "targets")
)


def norm(w, name, x):
    mean = x.mean(-1, keepdims=True)
    variance = jnp.square(x - mean).mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * w[name + ".weight"] + w[name + ".bias"]


def linear(w, name, x):
    return x @ w[name + ".weight"] + w[name + ".bias"]


def attend(qkv):
    q, k, v = jnp.moveaxis(qkv.reshape(*qkv.shape[:2], 3, heads, width // heads), 2, 0)
    return jax.nn.dot_product_attention(q, k, v, is_causal=True).reshape(*qkv.shape[:2], width)


def loss_of(w, ids, targets):
    x = w["wte.weight"][ids] + w["wpe.weight"][: ids.shape[1]]
    for layer in range(job["layers"]):
        h = f"h.{layer}."
        qkv = linear(w, h + "attn.c_attn", norm(w, h + "ln_1", x))
        x = x + linear(w, h + "attn.c_proj", attend(qkv))
        wide = jax.nn.gelu(linear(w, h + "mlp.c_fc", norm(w, h + "ln_2", x)), approximate=True)
        x = x + linear(w, h + "mlp.c_proj", wide)
    logits = norm(w, "ln_f", x) @ w["wte.weight"].T
    return optax.softmax_cross_entropy_with_integer_labels(logits, targets).mean()


optimizer = optax.chain(
    optax.clip_by_global_norm(job["max_norm"]),
    optax.adamw(
        job["lr"],
        b2=job["beta2"],
        weight_decay=job["weight_decay"],
        mask=lambda w: jax.tree.map(lambda p: p.ndim > 1, w),
    ),
)


def step(w, state, ids, targets):
    loss, gradients = jax.value_and_grad(loss_of)(w, ids, targets)
    updates, state = optimizer.update(gradients, state, w)
    return optax.apply_updates(w, updates), state, loss


compiled = jax.jit(step, donate_argnums=(0, 1))
weights = {
    name.removeprefix("transformer."): jnp.asarray(w)
    for name, w in load_file(folder / "weights" / "model.safetensors").items()
}
state = optimizer.init(weights)
taken = 0


def take(n):
    global weights, state, taken
    begin = time.perf_counter()
    for _ in range(n):
        weights, state, loss = compiled(weights, state, ids[taken], targets[taken])
        taken += 1
    loss.block_until_ready()
    return (time.perf_counter() - begin) * 1000 / n, loss


serve(take)
