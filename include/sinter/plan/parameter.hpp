// SPDX-License-Identifier: Apache-2.0
// Parameters and units by name.
#pragma once
#include <string>
#include <vector>

#include "sinter/program/regions.hpp"

namespace sinter::detail {

/// A parameter: its name and shape, its place in memory, and how it is trained.
struct Parameter {
  std::string name;  ///< as in Hugging Face's files: unit, node and parameter, joined by dots
  std::vector<std::int64_t> shape;  ///< as in Hugging Face's files
  std::int64_t offset;              ///< in every flat buffer, in elements
  std::int64_t size;                ///< number of elements
  Init init;                        ///< its initial values
  bool decayed, frozen;      ///< true if weight decay acts on it; true if no optimizer updates it
  bool adapter = false;      ///< true if it is a part of an adapter (Param::is_adapter)
  bool running = false;      ///< true if forward changes it (Param::running); then also frozen
  double learning_rate = 1;  ///< factor of the step's learning rate
  int unit;                  ///< the unit that owns it
  const Layer* layer;        ///< the layer that reads it
  int number;                ///< index in the parameters of the layer
  Int8Storage int8{};        ///< how it is stored, if in int8 (Param::int8)
  std::vector<StatePart> state{};  ///< by region; empty if it is frozen
  /// The only rank that stores its split state, if parameters have owners (Model::owned); else -1.
  int owner = -1;
};

/// Lists all parameters, in the order of the model. A tied parameter is listed only with its owner.
std::vector<Parameter> list_parameters(const Model& model);

/// The shape of a parameter in files; empty for a single running value.
std::vector<std::int64_t> shape_in_files(const Param& param);

/// The name of a unit of a model.
std::string unit_name(const Model& model, int unit);

/// Names the units that an instruction works on, as "h.3" or "h.0 … h.3, ln_f"; empty if none.
std::string subject(const Model& model, const Instruction& instruction);

}  // namespace sinter::detail
