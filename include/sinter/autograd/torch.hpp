// SPDX-License-Identifier: Apache-2.0
// The code of a layer Autograd<F>: a function of tensors, or a torch::nn::Module. Only headers in
// this folder include LibTorch's; this one includes only ATen/core/Tensor.h. A file includes in
// addition what its code needs, such as ATen/ops/relu_ops.h or torch/nn/modules/conv.h.
#pragma once
#include <ATen/core/Tensor.h>

#include <functional>
#include <mutex>
#include <string>
#include <utility>

#include "sinter/error.hpp"
#include "sinter/layer/autograd.hpp"

namespace sinter::autograd {

/// The inputs of a layer's code, which must not change x in place.
struct Inputs {
  /// The operands: numbers as rows × width, ids as rows, of int64. The rows of all sequences are
  /// concatenated.
  std::vector<at::Tensor> x;
  /// For each operand, the first row of each sequence and the end of the last one, of int64.
  std::vector<at::Tensor> starts;
  std::vector<at::Tensor> parameters;  ///< in the order of F::params, without running values
  std::vector<at::Tensor> buffers;     ///< running values in that order, to be changed in place
  bool training = false;               ///< true in training, unless the unit is frozen
};

/// The results, each of rows × width elements in any shape.
using Results = std::vector<at::Tensor>;

/// The code of one use of a layer: named tensors, and the function that computes with them.
struct Code {
  std::vector<std::pair<std::string, at::Tensor>> parameters, buffers;  ///< in any order
  std::function<Results(const Inputs&)> forward;                        ///< computes the results
  /// Called before a forward if the mode (true: training) differs from that of the forward before.
  std::function<void(bool)> train = [](bool) {};
};

/// Makes the object of a use. Its parameters become views of Sinter's.
/// throws    ArgumentError that lists all differences, if the code does not have the parameters and
///           running values that F names, in these shapes
std::unique_ptr<LayerObject> object_of(const AutogradSpec& spec, Code code);

/// Makes the object of a use whose code is a function.
std::unique_ptr<LayerObject> of_function(const AutogradSpec& spec,
                                         Results (*function)(const Inputs&));

/// Copies each sequence into a row of its own, padded with zeros: sequences × longest × width, from
/// rows × width and the sequences' starts, both as in Inputs.
at::Tensor padded(const at::Tensor& rows, const at::Tensor& starts);
/// The reverse of padded(): rows × width, without the padding after each sequence.
at::Tensor packed(const at::Tensor& sequences, const at::Tensor& starts);

/// Seeds LibTorch's generator for the CPU. While it lives, no other Seeded draws from the
/// generator, and the draws follow from the seed. The destructor restores the generator's state.
class Seeded {
 public:
  explicit Seeded(std::uint64_t seed);  ///< waits until no other Seeded exists
  ~Seeded();                            ///< restores the generator
  Seeded(const Seeded&) = delete;
  Seeded& operator=(const Seeded&) = delete;

 private:
  std::unique_lock<std::mutex> alone;
  at::Tensor before;
};

namespace detail {

/// The one result of a layer, as a list.
inline Results results(at::Tensor one) { return {std::move(one)}; }
inline Results results(Results all) { return all; }  ///< The results of a layer, as they are.

/// Calls forward() of a module with an Inputs, or with one to three operands.
template <class M>
Results call(M& module, const Inputs& in) {
  const std::vector<at::Tensor>& x = in.x;
  if constexpr (requires { module.forward(in); }) {
    return results(module.forward(in));
  } else {
    if constexpr (requires { module.forward(x[0]); })
      if (x.size() == 1) return results(module.forward(x[0]));
    if constexpr (requires { module.forward(x[0], x[1]); })
      if (x.size() == 2) return results(module.forward(x[0], x[1]));
    if constexpr (requires { module.forward(x[0], x[1], x[2]); })
      if (x.size() == 3) return results(module.forward(x[0], x[1], x[2]));
    throw ArgumentError("the forward() of a torch module does not take " +
                        std::to_string(x.size()) +
                        " tensors, one for each operand of its layer, nor autograd::Inputs.");
  }
}

}  // namespace detail

/// Makes the object of a use whose code is a module. M is derived from torch::nn::Module (as
/// LinearImpl is). Its forward() takes a tensor for each operand, or Inputs, and returns a tensor,
/// or Results. F names its parameters and buffers as named_parameters() and named_buffers() do, and
/// gives their first values. Each rank has its own module, made with these arguments.
template <class M, class... Arguments>
std::unique_ptr<LayerObject> of_module(const AutogradSpec& spec, const Arguments&... arguments) {
  std::shared_ptr<M> made;
  {
    const Seeded undisturbed(0);  // constructors draw first values
    made = std::make_shared<M>(arguments...);
  }
  Code code;
  for (const auto& p : made->named_parameters()) code.parameters.emplace_back(p.key(), p.value());
  for (const auto& b : made->named_buffers()) code.buffers.emplace_back(b.key(), b.value());
  code.forward = [made](const Inputs& in) { return detail::call(*made, in); };
  code.train = [made](bool on) { made->train(on); };
  return object_of(spec, std::move(code));
}

}  // namespace sinter::autograd
