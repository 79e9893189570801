// SPDX-License-Identifier: Apache-2.0
// One use of a layer Autograd<F> on one rank: its tensors, and the graph that forward leaves.
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>

#include <optional>

#include "autograd/meter.hpp"
#include "autograd/tensors.hpp"
#include "sinter/plan/parameter.hpp"

namespace sinter::autograd {
using namespace sinter::detail;
namespace {

using Tensors = std::vector<at::Tensor>;

/// Makes LibTorch use as many threads as the stream has, on this thread, while it lives.
class Threads {
  int before = at::get_num_threads();

 public:
  explicit Threads(int count) { set(count); }
  ~Threads() { set(before); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  static void set(int count) {
    if (at::get_num_threads() != count) at::set_num_threads(count);
  }
};

/// Makes LibTorch's sums repeatable. Otherwise some, such as that behind x[index], depend on the
/// order of threads. The setting is one for the whole process.
void ask_for_repeatable_sums() {
  [[maybe_unused]] static const bool once = [] {
    at::globalContext().setDeterministicFillUninitializedMemory(false);  // this would take time
    at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/true);
    return true;
  }();
}

at::Tensor view(const BoundOperand& operand, at::IntArrayRef shape, Element element) {
  return at::from_blob(operand.data, shape, scalar_type(element));
}
/// An operand or a result as rows × columns.
at::Tensor view(const BoundOperand& operand, Element element) {
  return view(operand, {operand.shape.rows, operand.shape.columns}, element);
}

/// Writes or adds a gradient to `into`. An undefined gradient is zero.
void store(const at::Tensor& gradient, const at::Tensor& into, bool add) {
  if (!gradient.defined()) {
    if (!add) into.zero_();
  } else if (add) {
    into.add_(gradient);
  } else {
    into.copy_(gradient);
  }
}

class Object final : public LayerObject {
  AutogradSpec spec;
  Code code;
  LayerTensors tensors;
  at::ScalarType type = computed_as(spec.compute);
  Tensors parameters, buffers;  // the tensors of `tensors`, for Inputs
  Tensors before;               // buffers before the call that will be repeated
  std::optional<bool> training;
  Tensors x;        // the graph, from forward to backward: its operands,
  Results results;  // and its results

 public:
  Object(const AutogradSpec& s, Code c)
      : spec(s), code(std::move(c)), tensors(match_tensors(spec, code)) {
    ask_for_repeatable_sums();
    for (LayerTensor& p : tensors.parameters) {
      p.tensor.set_data(at::empty({0}, type));  // its elements will be views of Sinter's
      p.tensor.set_requires_grad(true);
      parameters.push_back(p.tensor);
    }
    for (LayerTensor& b : tensors.buffers) {
      if (b.tensor.is_floating_point() && b.tensor.scalar_type() != type)
        b.tensor.set_data(b.tensor.to(type));
      buffers.push_back(b.tensor);
    }
  }

  void forward(const Call& call) override {
    guarded([&] {
      forget();
      const Threads threads(call.now->stream->threads());
      read_parameters(call);
      read_buffers(call);
      const bool leaves = call.pass == Pass::kept || call.pass == Pass::again;
      const c10::AutoGradMode records(leaves);
      const Meter meter(call);
      const Inputs inputs = inputs_of(call, leaves);
      Results made = run(call, inputs);
      check(call, made);
      write(call, made);
      if (!leaves) return;
      x = inputs.x;
      results = std::move(made);
    });
  }

  void backward(const Call& call) override {
    guarded([&] {
      if (results.empty()) throw Error("forward has left no graph for backward.");
      const Threads threads(call.now->stream->threads());
      const Meter meter(call);
      Tensors wanted, into;
      std::vector<bool> add;
      auto want = [&](const at::Tensor& of, const BoundOperand& gradient, at::Tensor where) {
        wanted.push_back(of);
        into.push_back(std::move(where));
        add.push_back(gradient.shape.add);
      };
      for (std::size_t i = 0; i < x.size(); ++i)
        if (spec.in[i] > 0 && call.dx[i].data)
          want(x[i], call.dx[i], view(call.dx[i], spec.compute));
      for (const LayerTensor& p : tensors.parameters)
        if (const BoundOperand& g = call.gradients[std::size_t(p.number)]; g.data)
          want(p.tensor, g, view(g, p.shape, spec.gradient));
      const Tensors gradients = gradients_of(call, wanted);
      const c10::NoGradGuard arithmetic_alone;
      for (std::size_t k = 0; k < wanted.size(); ++k) store(gradients[k], into[k], add[k]);
      forget();
    });
  }

 private:
  /// Names the layer in an error of LibTorch.
  template <class Work>
  void guarded(const Work& work) {
    try {
      work();
    } catch (const c10::Error& error) {
      forget();
      throw Error("LibTorch cannot compute " + name_of(spec) + ": " +
                  error.what_without_backtrace());
    }
  }
  void forget() {
    results.clear();
    x.clear();
  }

  /// Makes views of the weights, once, where LibTorch computes in their type; else copies.
  void read_parameters(const Call& call) {
    const c10::NoGradGuard arithmetic_alone;
    for (LayerTensor& p : tensors.parameters) {
      const BoundOperand& weight = call.weights[std::size_t(p.number)];
      const bool is_view = scalar_type(spec.compute) == type;
      if (p.viewed != weight.data) {
        const at::Tensor data = view(weight, p.shape, spec.compute);
        p.tensor.set_data(is_view ? data : at::empty(p.shape, type));
        p.viewed = weight.data;
      }
      if (!is_view) p.tensor.copy_(view(weight, p.shape, spec.compute));
    }
  }
  /// Reads the buffers. A repeated call gets them as they were before the first one.
  void read_buffers(const Call& call) {
    const c10::NoGradGuard arithmetic_alone;
    const bool again = call.pass == Pass::again && !call.frozen;
    for (std::size_t k = 0; k < buffers.size(); ++k) {
      const LayerTensor& b = tensors.buffers[k];
      buffers[k].copy_(again ? before[k]
                             : view(call.weights[std::size_t(b.number)], b.shape, spec.master));
    }
    if (call.pass != Pass::dropped) return;
    before.clear();
    for (const at::Tensor& buffer : buffers) before.push_back(buffer.clone());
  }

  Inputs inputs_of(const Call& call, bool leaves) const {
    Inputs inputs{.x = {},
                  .starts = {},
                  .parameters = parameters,
                  .buffers = buffers,
                  .training = call.now->training && !call.frozen};
    for (std::size_t i = 0; i < spec.in.size(); ++i) {
      const BoundOperand& operand = call.x[i];
      if (spec.in[i] == 0) {
        inputs.x.push_back(view(operand, {operand.shape.rows}, Element::i32).to(at::kLong));
      } else {
        inputs.x.push_back(view(operand, spec.compute).to(type));
        if (leaves) inputs.x.back().set_requires_grad(true);
      }
      const Sequences& rows = call.now->sequences[call.axis[i]];
      inputs.starts.push_back(
          at::from_blob(const_cast<std::int32_t*>(rows.starts), {rows.count + 1}, at::kInt)
              .to(at::kLong));
    }
    return inputs;
  }
  Results run(const Call& call, const Inputs& inputs) {
    if (training != inputs.training) {
      code.train(inputs.training);
      training = inputs.training;
    }
    if (!spec.random) return code.forward(inputs);
    const Now& now = *call.now;
    const Seeded seeded(kernel::mix(dropout_key(now, call.dropout_site) +
                                    std::uint64_t(now.first_row[call.axis[0]])));
    return code.forward(inputs);
  }
  void check(const Call& call, Results& made) const {
    if (made.size() != spec.out.size())
      throw Error(name_of(spec) + " gives " + std::to_string(made.size()) +
                  " results, and F::out names " + std::to_string(spec.out.size()) + ".");
    for (std::size_t i = 0; i < made.size(); ++i) {
      const kernel::Shape shape = call.y[i].shape;
      if (made[i].numel() != std::int64_t(shape.rows) * shape.columns)
        throw Error("result " + std::to_string(i) + " of " + name_of(spec) + " has " +
                    std::to_string(made[i].numel()) + " numbers, and F::out asks for " +
                    std::to_string(shape.rows) + " rows of " + std::to_string(shape.columns) + ".");
      made[i] = made[i].reshape({shape.rows, shape.columns});
    }
  }
  void write(const Call& call, const Results& made) {
    const c10::NoGradGuard arithmetic_alone;
    for (std::size_t i = 0; i < made.size(); ++i) view(call.y[i], spec.compute).copy_(made[i]);
    if (call.frozen || (call.pass != Pass::kept && call.pass != Pass::dropped)) return;
    for (std::size_t k = 0; k < buffers.size(); ++k) {
      const LayerTensor& b = tensors.buffers[k];
      view(call.weights[std::size_t(b.number)], b.shape, spec.master).copy_(buffers[k]);
    }
  }

  /// Returns the gradients of `wanted`; undefined for a tensor without influence.
  Tensors gradients_of(const Call& call, const Tensors& wanted) const {
    Tensors of, with;
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (!results[i].requires_grad()) continue;
      of.push_back(results[i]);
      with.push_back(view(call.dy[i], spec.compute).to(results[i].scalar_type()));
    }
    if (of.empty() || wanted.empty()) return Tensors(wanted.size());
    return torch::autograd::grad(of, wanted, with, /*retain_graph=*/false, /*create_graph=*/false,
                                 /*allow_unused=*/true);
  }
};

}  // namespace

std::unique_ptr<LayerObject> object_of(const AutogradSpec& spec, Code code) {
  return std::make_unique<Object>(spec, std::move(code));
}

std::unique_ptr<LayerObject> of_function(const AutogradSpec& spec,
                                         Results (*function)(const Inputs&)) {
  Code code;
  for (const Param& param : spec.params)
    (param.is_running ? code.buffers : code.parameters)
        .emplace_back(param.name, at::empty(shape_in_files(param), computed_as(spec.compute)));
  code.forward = function;
  return object_of(spec, std::move(code));
}

}  // namespace sinter::autograd
