// SPDX-License-Identifier: Apache-2.0
// All of Sinter, every public header: a table of contents, and what a recipe's file or a program
// with a trainer of its own includes.
#pragma once

// A recipe: a type composed of policies, and its plan
#include "sinter/plan/plan.hpp"
#include "sinter/recipe/recipe.hpp"

// Models and data
#include "sinter/data/array_files.hpp"
#include "sinter/data/arrays.hpp"
#include "sinter/data/batching.hpp"
#include "sinter/data/byte_corpus.hpp"
#include "sinter/data/bytes.hpp"
#include "sinter/data/columns.hpp"
#include "sinter/data/data_files.hpp"
#include "sinter/data/data_view.hpp"
#include "sinter/data/dialogue.hpp"
#include "sinter/data/example_files.hpp"
#include "sinter/data/example_source.hpp"
#include "sinter/data/examples.hpp"
#include "sinter/data/json_lines.hpp"
#include "sinter/data/objective.hpp"
#include "sinter/data/rows.hpp"
#include "sinter/data/token_file.hpp"
#include "sinter/data/tokens.hpp"
#include "sinter/data/windows.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/model/mlp.hpp"

// Layers for models of one's own, beside those of the models above
#include "sinter/layer/normalize.hpp"
#include "sinter/layer/swiglu.hpp"

// How it is computed
#include "sinter/memory/budget.hpp"
#include "sinter/memory/checkpoint.hpp"
#include "sinter/memory/keep_all.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/parallel/single.hpp"
#include "sinter/precision/bf16.hpp"
#include "sinter/precision/fp16.hpp"
#include "sinter/precision/fp32.hpp"
#include "sinter/precision/fp64.hpp"
#include "sinter/precision/tf32.hpp"

// How it learns
#include "sinter/batch/batch.hpp"
#include "sinter/batch/pad_rows.hpp"
#include "sinter/batch/scaled_rate.hpp"
#include "sinter/batching/dynamic_batch.hpp"
#include "sinter/batching/length_grouped.hpp"
#include "sinter/batching/packed.hpp"
#include "sinter/batching/padded.hpp"
#include "sinter/clipping/clip_norm.hpp"
#include "sinter/clipping/clip_value.hpp"
#include "sinter/clipping/no_clip.hpp"
#include "sinter/curriculum/batch_warmup.hpp"
#include "sinter/curriculum/length_warmup.hpp"
#include "sinter/objective/masked_lm.hpp"
#include "sinter/optimizer/adafactor.hpp"
#include "sinter/optimizer/adam.hpp"
#include "sinter/optimizer/adamw.hpp"
#include "sinter/optimizer/adamw8bit.hpp"
#include "sinter/optimizer/lion.hpp"
#include "sinter/optimizer/muon.hpp"
#include "sinter/optimizer/sgd.hpp"
#include "sinter/parameters/average.hpp"
#include "sinter/parameters/freeze.hpp"
#include "sinter/parameters/groups.hpp"
#include "sinter/recovery/roll_back.hpp"
#include "sinter/recovery/skip_steps.hpp"
#include "sinter/recovery/spike_guard.hpp"
#include "sinter/schedule/constant.hpp"
#include "sinter/schedule/cosine_decay.hpp"
#include "sinter/schedule/cosine_restarts.hpp"
#include "sinter/schedule/inverse_sqrt.hpp"
#include "sinter/schedule/linear_decay.hpp"
#include "sinter/schedule/plateau.hpp"
#include "sinter/schedule/polynomial_decay.hpp"
#include "sinter/schedule/warmup_stable_decay.hpp"

// What policies and instructions of one's own may use
#include "sinter/kernels/matmul_rate.hpp"
#include "sinter/plan/savings.hpp"
#include "sinter/run/elements.hpp"

// Checkpoints, weights and a run's folder
#include "sinter/device/available.hpp"
#include "sinter/files/event_file.hpp"
#include "sinter/files/load.hpp"
#include "sinter/files/metrics_log.hpp"
#include "sinter/files/run_folder.hpp"
#include "sinter/files/run_mark.hpp"
#include "sinter/files/weights.hpp"

// The trainer, the loop around it, and the binary
#include "sinter/cli/run.hpp"
#include "sinter/generate/generate.hpp"
#include "sinter/trainer/check_gradients.hpp"
#include "sinter/trainer/loop.hpp"
#include "sinter/trainer/trainer.hpp"
#include "sinter/version.hpp"
