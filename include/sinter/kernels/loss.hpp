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
//                         matmul's own error; with add_dtable √chunks ε |dtable before| more
//   mean_squared_error    losses (2 + √width / 2) ε loss, dx 2 ε |dx|
#pragma once
#include <cstdint>

#include "sinter/kernels/bfloat16.hpp"
#include "sinter/kernels/float16.hpp"
#include "sinter/kernels/stream.hpp"

namespace sinter::kernel {

/// losses[r] = -log softmax(logits[r])[targets[r]] in nats, 0 where targets[r] < 0 (ignored).
/// dlogits = weight (softmax - onehot), 0 in ignored rows; += with `add`; may be `logits`; null:
/// none. logits, dlogits: rows × vocabulary.
template <class S>
void cross_entropy(Stream& stream, const S* logits, const std::int32_t* targets, S* losses,
                   S* dlogits, double weight, int rows, int vocabulary, bool add);

/// Cross-entropy of the logits x tableᵀ, in chunks of rows, so that all logits never exist.
/// x: rows × width, table: vocabulary × width, targets and losses as above.
///   dx     = weight dloss/dx      (+= with add_dx); null: none
///   dtable = weight dloss/dtable  (+= with add_dtable); null: none
/// scratch: chunk_rows × (vocabulary + padding) elements. One pass: the loss and its gradients
/// together. padding: rows of zeros behind table, and zeros or anything behind dtable, which get
/// exact zeros added (or assigned).
template <class T, class S, class G>
void linear_cross_entropy(Stream& stream, const T* x, const T* table, const std::int32_t* targets,
                          S* losses, T* dx, bool add_dx, G* dtable, bool add_dtable, double weight,
                          S* scratch, int rows, int width, int vocabulary, int chunk_rows,
                          int padding = 0);

/// losses[r] = Σ_c (x[r][c] - target[r][c])². dx = 2 weight (x - target), += with `add`; may be x;
/// null: none. x, target, dx: rows × width.
template <class T, class S>
void mean_squared_error(Stream& stream, const T* x, const T* target, S* losses, T* dx,
                        double weight, int rows, int width, bool add);

}  // namespace sinter::kernel
