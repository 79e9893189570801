# SPDX-License-Identifier: Apache-2.0
"""A Python trainer as a contestant of bench/step.cpp: python3 step.py PEER FOLDER.

FOLDER holds job.json, weights/ (GPT-2 as Hugging Face has it) and, as int32, ids.bin and targets.bin
(all sequences, one after the other) and lengths.bin (of all sequences). Where they are packed,
attention sees whole sequences, and batches are padded to their longest.
"""

import sys
import tempfile
import time

import torch
import torch.nn.functional as F

from contestant import numbers, optimizer_of
from gpt2 import our_model
from rounds import Rounds, folder, job, serve

sequences, context = job["sequences"], job["context"]


def read(name):
    return numbers(name, torch.int32).long()


lengths = read("lengths.bin").view(-1, sequences)


def batches(name, padding):
    parts = read(name).split(lengths.flatten().tolist())
    pad = torch.nn.utils.rnn.pad_sequence
    batched = [pad(parts[i : i + sequences], True, padding) for i in range(0, len(parts), sequences)]
    return batched if job["packed"] else torch.stack(batched)


ids, targets = batches("ids.bin", 0), batches("targets.bin", -100)


def by_hand(compiled=False, half=False):
    model = our_model()
    optimizer = optimizer_of(model)
    forward = torch.compile(model) if compiled else model
    batch = 0

    def step():
        nonlocal batch
        with torch.autocast("cpu", torch.bfloat16, enabled=half):
            loss = forward(ids[batch], targets[batch])
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), job["max_norm"], foreach=True)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        batch += 1
        return loss

    def take(n):
        begin = time.perf_counter()
        for _ in range(n):
            loss = step()
        return (time.perf_counter() - begin) * 1000 / n, loss

    serve(take)


def whole_graph():
    """Forward, backward, clipping and AdamW as one graph of ATen's operators, compiled by inductor."""
    from torch.fx.experimental.proxy_tensor import make_fx

    model = our_model()
    names = [name for name, _ in model.named_parameters()]
    weights = [p.detach() for p in model.parameters()]
    means, squares = ([torch.zeros_like(w) for w in weights] for _ in range(2))
    rate, beta1, beta2 = job["lr"], 0.9, job["beta2"]

    def step(weights, means, squares, number, ids, targets):
        leaves = [w.detach().requires_grad_() for w in weights]
        loss = torch.func.functional_call(model, dict(zip(names, leaves)), (ids, targets))
        gradients = torch.autograd.grad(loss, leaves)
        norm = torch.sqrt(sum((g * g).sum() for g in gradients))
        scale = (job["max_norm"] / (norm + 1e-6)).clamp(max=1.0)
        first, second = 1 - beta1**number, 1 - beta2**number
        for w, m, v, g in zip(weights, means, squares, gradients):
            g = g * scale
            m.copy_(beta1 * m + (1 - beta1) * g)
            v.copy_(beta2 * v + (1 - beta2) * g * g)
            decay = rate * job["weight_decay"] if w.dim() > 1 else 0.0
            w.copy_(w * (1 - decay) - rate * (m / first) / (torch.sqrt(v / second) + 1e-8))
        return loss.detach()

    copies = [[t.clone() for t in some] for some in (weights, means, squares)]
    graph = make_fx(step)(*copies, torch.tensor(1.0), ids[0], targets[0])
    compiled = torch.compile(graph)
    number = 0

    def take(n):
        nonlocal number
        begin = time.perf_counter()
        with torch.no_grad():
            for _ in range(n):
                count = torch.tensor(float(number + 1))
                loss = compiled(weights, means, squares, count, ids[number], targets[number])
                number += 1
        return (time.perf_counter() - begin) * 1000 / n, loss

    serve(take)


class Windows(torch.utils.data.Dataset):
    def __len__(self):
        return ids.size(0) * sequences

    def __getitem__(self, i):
        at = divmod(i, sequences)
        return {"input_ids": ids[at], "labels": targets[at]}


def hugging_face():
    import transformers

    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    config = transformers.GPT2Config.from_pretrained(folder / "weights")
    config.activation_function = "gelu_pytorch_tanh"  # the same numbers, fused
    body = transformers.GPT2Model.from_pretrained(
        folder / "weights", config=config, attn_implementation="sdpa"
    )

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.body = body

        def forward(self, input_ids, labels):
            x = self.body(input_ids=input_ids, use_cache=False).last_hidden_state.flatten(0, 1)
            return {"loss": F.cross_entropy(x @ self.body.wte.weight.t(), labels.flatten())}

    rounds = Rounds()

    class InOrder(transformers.Trainer):
        def _get_train_sampler(self, *_):
            return torch.utils.data.SequentialSampler(self.train_dataset)

        def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
            self.loss = model(**inputs)["loss"]
            return self.loss

    class Watch(transformers.TrainerCallback):
        def on_step_end(self, args, state, control, **_):
            if not rounds.after_step(trainer.loss):
                control.should_training_stop = True

    with tempfile.TemporaryDirectory() as scratch:
        arguments = transformers.TrainingArguments(
            scratch,
            per_device_train_batch_size=sequences,
            max_steps=ids.size(0),
            optim="adamw_torch_fused",
            learning_rate=job["lr"],
            adam_beta2=job["beta2"],
            weight_decay=job["weight_decay"],
            max_grad_norm=job["max_norm"],
            lr_scheduler_type="constant",
            logging_strategy="no",
            save_strategy="no",
            report_to=[],
            use_cpu=True,
            disable_tqdm=True,
        )
        trainer = InOrder(Model(), arguments, train_dataset=Windows(), callbacks=[Watch()])
        trainer.train()


def lightning():
    import logging

    import lightning as L

    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    rounds = Rounds()

    class Module(L.LightningModule):
        def __init__(self):
            super().__init__()
            self.model = our_model()

        def training_step(self, batch, _):
            return self.model(batch["input_ids"], batch["labels"])

        def configure_optimizers(self):
            return optimizer_of(self.model)

    class Watch(L.Callback):
        def on_train_batch_end(self, trainer, module, outputs, batch, number):
            if not rounds.after_step(outputs["loss"]):
                trainer.should_stop = True

    trainer = L.Trainer(
        accelerator="cpu",
        devices=1,
        max_steps=ids.size(0),
        gradient_clip_val=job["max_norm"],
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        callbacks=[Watch()],
    )
    trainer.fit(Module(), torch.utils.data.DataLoader(Windows(), batch_size=sequences))


peers = {
    "eager": by_hand,
    "compile": lambda: by_hand(compiled=True),
    "whole-graph": whole_graph,
    "autocast": lambda: by_hand(half=True),
    "hugging-face": hugging_face,
    "lightning": lightning,
}
peers[sys.argv[1]]()
