// SPDX-License-Identifier: Apache-2.0
// Losses with their gradients. T is the type of elements, S of losses and logits, G of gradients of
// weights. They are all float, all double, or T is BFloat16 or Float16, S float, and G float or T.
// Each row has a loss; the caller sums them and divides the sum.
//
// Errors, with ε the epsilon of S. A narrow T adds the rounding of what is stored, and an add flag
// adds one ε of the sum. (√ assumes that roundings behave as if random, Higham & Mary 2019.)
//   cross_entropy         with τ = 8 + √vocabulary / 2: losses (τ + loss) ε, and dlogits
//                         weight ε (p (τ + largest logit - logit), and 1 more at the target)
//   linear_cross_entropy  as cross_entropy with τ + 2 (1 + √width) max Σ|x table| for τ, as the
//                         logits are products. dx and dtable: the effect on the sums over dlogits,
//                         and matmul's own error; dtable's add flag adds √chunks ε |dtable before|.
//                         With a bias, Σ|x table| + |bias| replaces Σ|x table|, and dbias errs as
//                         dtable would for a column of ones in x
//   with LossOptions      with a and b the factors of log softmax[target] and, summed, of all
//                         classes: losses (τ (a + b) + loss + b (8 + √vocabulary)
//                         (1 + 2 largest |logit|)) ε, and dlogits weight ε ((a + b) p (τ + largest
//                         logit - logit) + 4 × the parts of the class in the target)
//   mean_squared_error    losses (2 + √width / 2) ε loss, dx 2 ε |dx|
#pragma once
#include <cstdint>

#include "sinter/base/bfloat16.hpp"
#include "sinter/base/float16.hpp"
#include "sinter/hardware/stream.hpp"
#include "sinter/kernels/tensor.hpp"

namespace sinter::kernel {

/// What a cross-entropy does beside -log softmax(logits)[target]. With ε = label_smoothing, w =
/// class_weights and C classes, the loss of a row is, as torch.nn.functional.cross_entropy has it,
///   -(1 - ε) w[target] log softmax[target] - ε / C Σ_c w[c] log softmax[c]
/// By default kernels are those without options, to the bit.
template <class S>
struct LossOptions {
  double label_smoothing = 0;        ///< ε, at least 0 and below 1
  const S* class_weights = nullptr;  ///< w, a weight of each class in device memory; null: all 1
  double weight_sum = 0;             ///< Σ w, if there are class_weights
  /// Unless null: a counter in device memory. It grows by the number of rows with a target whose
  /// largest logit, the first of equals, is that of the target.
  unsigned long long* right = nullptr;

  /// True if the loss is another than -log softmax(logits)[target].
  bool reshapes() const { return label_smoothing > 0 || class_weights; }
};

/// losses[r] = -log softmax(logits[r])[targets[r]] in nats; a row with targets[r] < 0 is ignored
/// and its loss is 0. dlogits = weight (softmax - onehot), 0 in ignored rows, or += with its add
/// flag; it may be `logits`, or empty. logits, dlogits: rows × vocabulary, targets: one for each
/// row, losses: rows × 1. Options may change the loss, and dlogits with it.
template <class T, class S>
void cross_entropy(Stream& stream, Input<T> logits, Input<std::int32_t> targets, Tensor<S> losses,
                   Tensor<T> dlogits, double weight, const LossOptions<S>& options = {});

/// Cross-entropy of the logits x tableᵀ, in chunks of rows, so that the logits never exist all at
/// once. One pass computes the loss and its gradients. Each gradient obeys its add flag; one that
/// is empty is not computed.
///   x        rows × width
///   table    vocabulary × width, with `padding` rows of zeros behind it
///   targets  as in cross_entropy(), like losses
///   dx       weight dloss/dx
///   dtable   weight dloss/dtable; the `padding` rows behind it get exact zeros, assigned or added
///   logits   scratch, rows of a chunk × (vocabulary + padding)
template <class T, class S, class G>
void linear_cross_entropy(Stream& stream, Input<T> x, Input<T> table, Input<std::int32_t> targets,
                          Output<S> losses, Tensor<T> dx, Tensor<G> dtable, double weight,
                          Tensor<S> logits, const LossOptions<S>& options = {});

/// linear_cross_entropy() of the logits x tableᵀ + bias, without padding behind the table.
///   bias     1 × vocabulary
///   dbias    weight dloss/dbias
///   logits   scratch, (rows of a chunk + 1) × vocabulary
template <class T, class S, class G>
void linear_bias_cross_entropy(Stream& stream, Input<T> x, Input<T> table, Input<T> bias,
                               Input<std::int32_t> targets, Output<S> losses, Tensor<T> dx,
                               Tensor<G> dtable, Tensor<G> dbias, double weight, Tensor<S> logits,
                               const LossOptions<S>& options = {});

/// losses[r] = Σ_c (x[r][c] - target[r][c])². dx = 2 weight (x - target), or += with its add flag;
/// it may be x, or empty. x, target, dx: rows × width, losses: rows × 1.
template <class T, class S>
void mean_squared_error(Stream& stream, Input<T> x, Input<T> target, Tensor<S> losses, Tensor<T> dx,
                        double weight);

}  // namespace sinter::kernel
