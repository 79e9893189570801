# SPDX-License-Identifier: Apache-2.0
"""Hugging Face's Trainer as a contestant of bench/seeds.cpp: python3 seeds.py ATTENTION FOLDER.

ATTENTION is the implementation, such as sdpa or eager. FOLDER holds job.json, weights/ and, as int32,
ids0.bin, the tokens of all sequences, and ids1.bin, their classes. The model is made as fine-tuning makes
it, and job.json says the Trainer's arguments. Prints "FACT state x", bytes of the optimizer's state for
each parameter, before the first STEP.
"""

import sys
import tempfile

import torch
import transformers

from contestant import numbers
from rounds import Rounds, folder, job

transformers.logging.set_verbosity_error()
transformers.logging.disable_progress_bar()

classes = numbers("ids1.bin", torch.int32).long()
ids = numbers("ids0.bin", torch.int32).long().view(len(classes), -1)


class Sequences(torch.utils.data.Dataset):
    def __len__(self):
        return len(classes)

    def __getitem__(self, i):
        return {"input_ids": ids[i], "labels": classes[i]}


class InOrder(transformers.Trainer):
    def _get_train_sampler(self, *_):
        return torch.utils.data.SequentialSampler(self.train_dataset)

    def training_step(self, *inputs, **more):
        self.loss = super().training_step(*inputs, **more)
        return self.loss


class Watch(transformers.TrainerCallback):
    def on_step_end(self, args, state, control, model, optimizer, **_):
        if rounds.taken == 0:
            tensors = [t for kept in optimizer.state.values() for t in kept.values() if torch.is_tensor(t)]
            total = sum(t.numel() * t.element_size() for t in tensors)
            print("FACT state", total / sum(p.numel() for p in model.parameters()))
        if not rounds.after_step(trainer.loss):
            control.should_training_stop = True


rounds = Rounds()
model = getattr(transformers, job["class"]).from_pretrained(
    folder / "weights", attn_implementation=sys.argv[1]
)
with tempfile.TemporaryDirectory() as scratch:
    arguments = transformers.TrainingArguments(
        scratch,
        per_device_train_batch_size=job["micro"],
        gradient_accumulation_steps=job["sequences"] // job["micro"],
        bf16=job["half"],
        optim=job["optimizer"],
        max_steps=len(classes) // job["sequences"],
        learning_rate=job["lr"],
        max_grad_norm=job["max_norm"],
        lr_scheduler_type="constant",
        logging_strategy="no",
        save_strategy="no",
        report_to=[],
        use_cpu=True,
        dataloader_pin_memory=False,
        disable_tqdm=True,
        **({"gradient_checkpointing": True} if job["checkpointing"] else {}),
    )
    trainer = InOrder(model, arguments, train_dataset=Sequences(), callbacks=[Watch()])
    trainer.train()
