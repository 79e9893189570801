// SPDX-License-Identifier: Apache-2.0
// Must not compile: Sinter: a recipe for CUDA is compiled without it.
// and: ./sinter build --cuda
#include "sinter/device/cuda.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/trainer/trainer.hpp"
using namespace sinter;

struct mine : Recipe<Mlp<>, Cuda<>> {};
RecipeView view() { return view_of<mine>(); }
