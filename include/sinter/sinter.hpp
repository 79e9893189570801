// All of Sinter: what a recipe's file and a program with a trainer of its own need. A table of
// contents.
#pragma once

// A recipe: a type composed of policies, and its plan
#include "plan.hpp"
#include "recipe.hpp"

// Models and data
#include "data/arrays.hpp"
#include "data/byte_corpus.hpp"
#include "data/bytes.hpp"
#include "data/rows.hpp"
#include "data/windows.hpp"
#include "model/gpt2.hpp"
#include "model/mlp.hpp"

// Layers for models of one's own, beside those of the models above
#include "layer/rms_norm.hpp"
#include "layer/swiglu.hpp"

// How it is computed
#include "memory/budget.hpp"
#include "memory/checkpoint.hpp"
#include "memory/keep_all.hpp"
#include "parallel/ddp.hpp"
#include "parallel/single.hpp"
#include "precision/bf16.hpp"
#include "precision/fp16.hpp"
#include "precision/fp32.hpp"
#include "precision/fp64.hpp"
#include "precision/tf32.hpp"

// How it learns
#include "batch/batch.hpp"
#include "batch/batch_warmup.hpp"
#include "batch/length_warmup.hpp"
#include "batch/pad_rows.hpp"
#include "batch/scaled_rate.hpp"
#include "clipping/clip_norm.hpp"
#include "clipping/clip_value.hpp"
#include "clipping/no_clip.hpp"
#include "optimizer/adafactor.hpp"
#include "optimizer/adam.hpp"
#include "optimizer/adamw.hpp"
#include "optimizer/adamw8bit.hpp"
#include "optimizer/lion.hpp"
#include "optimizer/muon.hpp"
#include "optimizer/sgd.hpp"
#include "parameters/average.hpp"
#include "parameters/freeze.hpp"
#include "parameters/groups.hpp"
#include "schedule/constant.hpp"
#include "schedule/cosine_decay.hpp"
#include "schedule/cosine_restarts.hpp"
#include "schedule/inverse_sqrt.hpp"
#include "schedule/linear_decay.hpp"
#include "schedule/plateau.hpp"
#include "schedule/polynomial_decay.hpp"
#include "schedule/warmup_stable_decay.hpp"

// The trainer, the loop around it, and the binary
#include "cli/run.hpp"
#include "trainer/generate.hpp"
#include "trainer/loop.hpp"
#include "trainer/trainer.hpp"
