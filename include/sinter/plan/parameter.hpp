// SPDX-License-Identifier: Apache-2.0
// Parameters and units by name.
#pragma once
#include <string>
#include <vector>

#include "sinter/program/regions.hpp"

namespace sinter {

/// A parameter: its shape, where it lies, and what is done with it.
struct Parameter {
  std::string name;  ///< as in Hugging Face's files: unit, node and parameter, joined by dots
  std::vector<std::int64_t> shape;  ///< as in those files
  std::int64_t offset;              ///< in every flat buffer, in elements
  std::int64_t size;                ///< elements
  Init init;
  bool decayed, frozen;      ///< whether weight decay acts on it, and whether no optimizer does
  bool running = false;      ///< forward changes it, see running() in layer.hpp; it is frozen, too
  double learning_rate = 1;  ///< a factor of the step's
  int unit;                  ///< the one that owns it
  const Layer* layer;
  int number;                      ///< among the parameters of the layer
  std::vector<StatePart> state{};  ///< by region; empty if it is frozen
  /// The rank that alone has what is split of it, where each parameter has one (Model::owned); else -1.
  int owner = -1;
};

/// Lists all parameters, in the order of the model. A tied one is listed with its owner alone.
std::vector<Parameter> list_parameters(const Model& model);

/// The shape of a parameter in files; empty for a single running value.
std::vector<std::int64_t> shape_in_files(const Param& param);

/// The name of a unit of a model.
std::string unit_name(const Model& model, int unit);

/// Names the units that an instruction works on, as "h.3" or "h.0 … h.3, ln_f"; empty if none.
std::string subject(const Model& model, const Instruction& instruction);

}  // namespace sinter
