// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/comm/nccl.hpp"
#include "sinter/hardware/card.hpp"
#include "sinter/policy/concepts.hpp"
#include "sinter/program/model.hpp"

namespace sinter {

struct CudaOptions {
  int card = 0;  ///< the card's number in CUDA's order
  SINTER_FIELDS((card).at_least(0).adjustable())
};

namespace detail {
SINTER_MODEL_RULE(
    NoLayerOfLibTorch, !model.unplanned(),
    "Cuda: a layer of this model computes in an object of its own, as Autograd does. Why: it would "
    "take its memory and its kernels from LibTorch for CUDA, with which a binary for a card is not "
    "linked. Fix: write the layer with Sinter's kernels, or train the recipe on Cpu.");
}  // namespace detail

/// An NVIDIA GPU. A recipe for it is planned and checked like one for the CPU. It is the device of
/// recipes that name none, if they are built for CUDA (./sinter build --cuda).
template <CudaOptions O = {}>
struct Cuda {
  using slot = slot::device;
  using Options = CudaOptions;
  using model_rules = RuleList<detail::NoLayerOfLibTorch>;
  static constexpr Options options = O;
  static constexpr bool on_host = false;
  static void open(const Options& o) { detail::open_card(o.card); }
  /// Makes this process's communicator, for ranks that are processes.
  static constexpr auto join = nccl_rank;
};

}  // namespace sinter
