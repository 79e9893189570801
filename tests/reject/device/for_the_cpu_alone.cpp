// SPDX-License-Identifier: Apache-2.0
// Must not compile: Sinter: a recipe for the CPU is compiled for CUDA.
// and: leave the device out of the recipe
// Compiled with: -DSINTER_CUDA=1
#include "sinter/model/mlp.hpp"
#include "sinter/trainer/trainer.hpp"
using namespace sinter;

struct mine : Recipe<Mlp<>, Cpu> {};
RecipeView view() { return view_of<mine>(); }
