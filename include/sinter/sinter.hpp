// SPDX-License-Identifier: Apache-2.0
// All public headers of Sinter: a table of contents, and the one header that recipe files and
// programs with their own trainer include.
#pragma once

// A recipe: a type composed of policies, its plan, and all policies
#include "sinter/recipe/all_policies.hpp"
#include "sinter/recipe/candidates.hpp"
#include "sinter/recipe/plan.hpp"
#include "sinter/recipe/recipe.hpp"
#include "sinter/recipe/with.hpp"

// Data beside the policies for it
#include "sinter/data/arrays.hpp"
#include "sinter/data/batching.hpp"
#include "sinter/data/byte_corpus.hpp"
#include "sinter/data/data_files.hpp"
#include "sinter/data/data_view.hpp"
#include "sinter/data/example_files.hpp"
#include "sinter/data/example_source.hpp"
#include "sinter/data/examples.hpp"
#include "sinter/data/next_token.hpp"
#include "sinter/data/objective.hpp"
#include "sinter/data/token_file.hpp"
#include "sinter/data/tokenizer/train.hpp"
#include "sinter/data/windows.hpp"

// Layers for your own models, beside those of the models above
#include "sinter/layer/autograd.hpp"
#include "sinter/layer/cross_attention.hpp"
#include "sinter/layer/normalize.hpp"
#include "sinter/layer/swiglu.hpp"

// What your own policies and instructions may use
#include "sinter/base/with_element.hpp"
#include "sinter/kernels/matmul_rate.hpp"
#include "sinter/parallel/compression.hpp"
#include "sinter/parallel/fetched_weights.hpp"
#include "sinter/parallel/transfers.hpp"
#include "sinter/recipe/savings.hpp"

// Ranks that are processes, and forecasts for more of them
#include "sinter/comm/hosts.hpp"
#include "sinter/comm/launched_world.hpp"
#include "sinter/comm/mesh.hpp"
#include "sinter/comm/nccl.hpp"
#include "sinter/comm/shared_memory.hpp"
#include "sinter/comm/world.hpp"
#include "sinter/forecast/forecast.hpp"
#include "sinter/forecast/measure.hpp"

// Checkpoints, weights and a run's folder
#include "sinter/files/event_file.hpp"
#include "sinter/files/load.hpp"
#include "sinter/files/metrics_log.hpp"
#include "sinter/files/run_folder.hpp"
#include "sinter/files/run_mark.hpp"
#include "sinter/files/weights.hpp"
#include "sinter/hardware/available.hpp"
#include "sinter/hardware/device.hpp"
#include "sinter/hardware/offload_memory.hpp"
#include "sinter/hardware/unplanned.hpp"

// The trainer, the loop around it, and the binary
#include "sinter/cli/run.hpp"
#include "sinter/generate/generate.hpp"
#include "sinter/generate/generator.hpp"
#include "sinter/generate/texts.hpp"
#include "sinter/generate/whole_texts.hpp"
#include "sinter/trainer/check_gradients.hpp"
#include "sinter/trainer/loop.hpp"
#include "sinter/trainer/predictor.hpp"
#include "sinter/trainer/trainer.hpp"
#include "sinter/version.hpp"
