// Losses with their gradients. T: elements, S: losses and logits, G: gradients of weights;
// all float, all double, or BFloat16 or Float16 with float for S, and float or T for G. A loss
// is given for each row; their sum and what it is divided by are the caller's.
//
// Errors, with ε the epsilon of S; BFloat16 adds the rounding of what is stored, and an add flag
// one ε of the sum. (√: roundings as good as random, Higham & Mary 2019.)
//   cross_entropy         with τ = 8 + √vocabulary / 2: losses (τ + loss) ε, and dlogits
//                         weight ε (p (τ + largest logit - logit), and 1 more at the target)
//   linear_cross_entropy  the same with τ + 2 (1 + √width) max Σ|x table|, as the logits are
//                         products; dx and dtable: what that makes of the sums over dlogits, and
//                         matmul's own error; with dtable's √chunks ε |dtable before| more
//   mean_squared_error    losses (2 + √width / 2) ε loss, dx 2 ε |dx|
#pragma once
#include <cstdint>

#include "sinter/kernels/bfloat16.hpp"
#include "sinter/kernels/float16.hpp"
#include "sinter/kernels/stream.hpp"
#include "sinter/kernels/tensor.hpp"

namespace sinter::kernel {

/// losses[r] = -log softmax(logits[r])[targets[r]] in nats, 0 where targets[r] < 0 (ignored).
/// dlogits = weight (softmax - onehot), 0 in ignored rows; += with its add flag; may be `logits`,
/// or empty. logits, dlogits: rows × vocabulary, targets: one for each row, losses: rows × 1.
template <class S>
void cross_entropy(Stream& stream, Input<S> logits, Input<std::int32_t> targets, Tensor<S> losses,
                   Output<S> dlogits, double weight);

/// Cross-entropy of the logits x tableᵀ, in chunks of rows, so that all logits never exist.
/// x: rows × width, table: vocabulary × width, targets and losses as above. Each gradient obeys its
/// add flag or is empty, then it is not computed:
///   dx      weight dloss/dx
///   dtable  weight dloss/dtable
/// logits: scratch for the logits of a chunk, rows of a chunk × (vocabulary + padding). One pass:
/// the loss and its gradients together. padding: rows of zeros behind table, and zeros or anything
/// behind dtable, which get exact zeros added (or assigned).
template <class T, class S, class G>
void linear_cross_entropy(Stream& stream, Input<T> x, Input<T> table, Input<std::int32_t> targets,
                          Output<S> losses, Tensor<T> dx, Tensor<G> dtable, double weight,
                          Tensor<S> logits);

/// losses[r] = Σ_c (x[r][c] - target[r][c])². dx = 2 weight (x - target), += with its add flag; may
/// be x, or empty. x, target, dx: rows × width, losses: rows × 1.
template <class T, class S>
void mean_squared_error(Stream& stream, Input<T> x, Input<T> target, Tensor<S> losses, Tensor<T> dx,
                        double weight);

}  // namespace sinter::kernel
