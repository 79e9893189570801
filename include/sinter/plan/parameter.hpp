// Parameters by name.
#pragma once
#include <string>
#include <vector>

#include "sinter/program/regions.hpp"

namespace sinter {

/// A parameter: its name, as the architecture's file has it, its shape, and where it lies.
struct Parameter {
  std::string name;
  std::vector<std::int64_t> shape;
  std::int64_t offset;  // in elements of every flat buffer
  std::int64_t size;
  Init init;
  bool decayed, frozen;
  double learning_rate = 1;  // a factor of the step's
  int unit;                  // the one that owns it
  const Layer* layer;        // number: among its parameters
  int number;
  std::vector<StatePart> state{};  // by region; none of frozen ones
};

/// Hugging Face's names of all parameters, in the order of the model: unit, node and parameter,
/// joined by dots. Tied ones belong to their owner.
std::vector<Parameter> list_parameters(const Model& model);

/// The name of a unit of a model.
std::string unit_name(const Model& model, int unit);

}  // namespace sinter
