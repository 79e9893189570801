// SPDX-License-Identifier: Apache-2.0
#include "autograd/tensors.hpp"

#include <c10/util/Type.h>

#include <map>

#include "sinter/plan/parameter.hpp"

namespace sinter::autograd {
using namespace sinter::detail;
namespace {

std::string text_of(at::IntArrayRef shape) {
  std::string text = "[";
  for (std::int64_t n : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(n);
  return text + "]";
}

/// Collects what differs between F and its code.
class Matcher {
  std::map<std::string, at::Tensor> left;  // of the code, not yet taken
  std::string kind, problems;

 public:
  Matcher(const char* what, const std::vector<std::pair<std::string, at::Tensor>>& tensors)
      : left(tensors.begin(), tensors.end()), kind(what) {}

  LayerTensor take(const Param& param, int number) {
    LayerTensor taken{number, shape_in_files(param), {}};
    const auto found = left.find(param.name);
    if (found == left.end()) {
      note(param.name, "is not in the module");
      return taken;
    }
    taken.tensor = found->second;
    left.erase(found);
    if (taken.tensor.sizes() != at::IntArrayRef(taken.shape))
      note(param.name, "is " + text_of(taken.tensor.sizes()) + " in the module, and " +
                           text_of(taken.shape) + " in F::params");
    return taken;
  }
  std::string text() {
    for (const auto& [name, tensor] : left)
      note(name, text_of(tensor.sizes()) + " is in the module alone");
    return problems;
  }

 private:
  void note(const std::string& name, const std::string& what) {
    problems += "\n  " + kind + " '" + name + "' " + what;
  }
};

}  // namespace

at::ScalarType scalar_type(Element element) {
  switch (element) {
    case Element::f32:
      return at::kFloat;
    case Element::f64:
      return at::kDouble;
    case Element::f16:
      return at::kHalf;
    case Element::bf16:
      return at::kBFloat16;
    case Element::i32:
      return at::kInt;
    case Element::u8:
      return at::kByte;
  }
  throw Error("LibTorch has no such elements.");
}

at::ScalarType computed_as(Element element) {
  return element == Element::f64 ? at::kDouble : at::kFloat;
}

std::string name_of(const AutogradSpec& spec) { return c10::demangle(spec.type->name()); }

LayerTensors match_tensors(const AutogradSpec& spec, const Code& code) {
  Matcher parameters("parameter", code.parameters), buffers("buffer", code.buffers);
  LayerTensors tensors;
  for (int k = 0; k < int(spec.params.size()); ++k) {
    const Param& param = spec.params[std::size_t(k)];
    if (param.is_running) {
      tensors.buffers.push_back(buffers.take(param, k));
    } else {
      tensors.parameters.push_back(parameters.take(param, k));
    }
  }
  if (const std::string problems = parameters.text() + buffers.text(); !problems.empty())
    throw ArgumentError("the torch module of " + name_of(spec) +
                        " is not what its F::params says:" + problems +
                        "\nName each parameter in F::params as named_parameters() does, and each "
                        "buffer by running(), with the same shapes.");
  return tensors;
}

}  // namespace sinter::autograd
