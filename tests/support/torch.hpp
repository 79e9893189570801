// SPDX-License-Identifier: Apache-2.0
// Includes LibTorch beside doctest, and turns a trainer's numbers into tensors.
#pragma once
#include <torch/torch.h>
// LibTorch's logging and doctest have macros of the same names; tests mean doctest's.
#undef CHECK
#undef CHECK_EQ
#undef CHECK_NE
#undef CHECK_LT
#undef CHECK_LE
#undef CHECK_GT
#undef CHECK_GE

#include "support/trainers.hpp"

namespace sinter::detail::testing {

using NamedTensors = std::map<std::string, torch::Tensor>;

/// A copy of the numbers, in double precision.
inline torch::Tensor tensor_of(const Numbers& values, const std::vector<std::int64_t>& shape) {
  return torch::tensor(values, torch::kFloat64).view(shape);
}
inline Numbers numbers_of(const torch::Tensor& tensor) {
  torch::Tensor flat = tensor.detach().to(torch::kFloat64).contiguous();
  return {flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel()};
}

/// All parameters of a trainer, as leaves of LibTorch's autograd.
inline NamedTensors leaves_of(const TrainerCore& trainer) {
  NamedTensors result;
  for (const Parameter& p : trainer.parameters())
    result[p.name] = tensor_of(trainer.parameter(p.name), p.shape).requires_grad_();
  return result;
}

/// An input of a batch, as rows × width.
inline torch::Tensor values_of(const HostBatch& batch, int input = 0) {
  const auto& values = batch.values[std::size_t(input)];
  return torch::tensor(values, torch::kFloat64).view({batch.rows(), -1});
}
inline torch::Tensor ids_of(const HostBatch& batch, int input = 0) {
  return torch::tensor(batch.ids[std::size_t(input)], torch::kInt64);
}
/// The rows of sequence s.
inline torch::Tensor sequence_of(const torch::Tensor& rows, const HostBatch& batch, int s) {
  auto k = std::size_t(s);
  return rows.slice(0, batch.starts[k], batch.starts[k + 1]);
}

}  // namespace sinter::detail::testing
