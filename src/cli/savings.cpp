#include "savings.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "output.hpp"
#include "sinter/memory/checkpoint.hpp"
#include "sinter/optimizer/adafactor.hpp"
#include "sinter/optimizer/adamw8bit.hpp"
#include "sinter/unit_planner.hpp"

namespace sinter::cli {
namespace {

constexpr bool nothing(const Layer&) { return false; }
constexpr bool what_is_cheap(const Layer& layer) { return layer.cheap; }

/// What may be changed of a plan.
struct Variant {
  int micro;
  Sizes sizes;  // but rows
  RecomputedInside recomputed{};
  bool recomputes_units = false;  // rather than what the recipe does
  std::vector<Region> regions;
};

/// The recipe's own.
Variant own(const PlanView& plan) {
  Variant v{plan.micro, plan.model.sizes, plan.recomputed, false, {}};
  v.regions.assign(plan.model.regions.begin(), plan.model.regions.end());
  return v;
}

bool is_recompute(const Instruction& i) { return i.kind->phases == calls_of(Phase::recompute); }

Program program_of(const Model& model, const Placement& placement, const Variant& v) {
  Program program;
  for (const Instruction& i : placement.program) program.push_back(i);
  return v.recomputes_units ? recompute_units(model, program, 1) : program;
}

/// The arena that a variant needs.
std::int64_t total_of(const PlanView& plan, const Variant& v) {
  Model model = plan.model;
  Graph graph;
  graph.locals.assign(model.locals.begin(), model.locals.end());
  graph.nodes.assign(model.nodes.begin(), model.nodes.end());
  graph.blocks.assign(model.blocks.begin(), model.blocks.end());
  graph.units.assign(model.units.begin(), model.units.end());
  Sizes sizes = v.sizes;
  for (int& rows : sizes.rows) rows = int(std::int64_t(rows) * v.micro / plan.micro);
  std::vector<Step> steps;
  const std::vector<UnitPlan> plans = plan_units(graph, sizes, v.recomputed, true, steps);
  choose_plans(graph, v.recomputed);
  model.units = graph.units;
  model.sizes = sizes;
  model.plans = plans;
  model.steps = steps;
  model.regions = v.regions;
  const bool copies = sizes.element[int(Type::compute)] != sizes.element[int(Type::master)];
  model.weights = copies ? Space::weights : Space::master;
  return std::max(place(model, program_of(model, plan.training, v)).peak,
                  place(model, program_of(model, plan.evaluation, own(plan))).peak);
}

void set_element(Sizes& sizes, Type type, Element element) {
  sizes.element[int(type)] = element;
  sizes.bytes[int(type)] = bytes_of(element);
}

template <class Optimizer>
void set_optimizer(Variant& v) {
  v.regions.assign(Optimizer::regions.begin(), Optimizer::regions.end());
}

class Table {
  const PlanView& plan;
  std::vector<Saving>& list;

 public:
  Table(const PlanView& p, std::vector<Saving>& l) : plan(p), list(l) {}
  void add(std::string technique, int rank, auto change) {
    Variant v = own(plan);
    change(v);
    list.push_back({std::move(technique), total_of(plan, v), rank});
  }
};

}  // namespace

std::vector<Saving> savings(const PlanView& plan) {
  std::vector<Saving> list;
  Table table(plan, list);
  const Sizes& sizes = plan.model.sizes;
  const bool single = sizes.element[int(Type::compute)] == Element::f32;
  const bool recomputes = std::ranges::any_of(plan.training.program, is_recompute);
  if (plan.micro > 1) {
    for (int micro : {plan.micro / 2, 1})
      if (micro == 1 || plan.micro % 2 == 0)
        table.add(fmt::format("Batch<{{.micro = {}}}>, accumulating", micro), micro == 1 ? 1 : 0,
                  [&](Variant& v) { v.micro = micro; });
    if (plan.micro == 2) list.pop_back();
    list.back().rank = 1;
  }
  if (!recomputes) {
    table.add("Checkpoint<{.policy = selective}>", 2,
              [](Variant& v) { v.recomputed = {what_is_cheap}; });
    table.add("Checkpoint<>, recomputing whole units", 4,
              [](Variant& v) { v.recomputed = {nothing}, v.recomputes_units = true; });
  }
  if (single) {
    table.add("Bf16", 3, [](Variant& v) { set_element(v.sizes, Type::compute, Element::bf16); });
    table.add("Fp16<{.masters = false}>", 0, [](Variant& v) {
      for (Type type : {Type::compute, Type::gradient, Type::master})
        set_element(v.sizes, type, Element::f16);
    });
    table.add("AdamW8bit<>", 5, set_optimizer<AdamW8bit<>>);
    table.add("Adafactor<>", 6, set_optimizer<Adafactor<>>);
    table.add("Sgd<> without momentum", 0, [](Variant& v) { v.regions.clear(); });
  }
  const std::int64_t now = plan.memory.total;
  std::erase_if(list, [&](const Saving& s) { return s.total >= now; });
  return list;
}

namespace {

/// Bytes of this process in memory now: libraries, for describe makes no arena.
std::int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::int64_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

std::string anatomy_text(const PlanView& plan) {
  const Memory& m = plan.memory;
  std::string text = "what it is for\n";
  auto of_parameters = [&](const char* what, std::int64_t bytes) {
    if (bytes > 0)
      text += fmt::format("        {:<38}{:>12}  {:.2f} bytes a parameter\n", what,
                          bytes_text(bytes), double(bytes) / double(plan.parameters));
  };
  of_parameters(m.weights ? "master weights" : "weights", m.parameters);
  of_parameters("their copy, which layers read", m.weights);
  of_parameters("gradients", m.gradients);
  of_parameters("optimizer's state", m.optimizer);
  of_parameters("other policies' state", m.policies);
  const std::int64_t rows = std::int64_t(plan.micro) * plan.context;
  text += fmt::format("        {:<38}{:>12}  {} bytes a row, {} rows\n",
                      "activations, kept for backward", bytes_text(m.activations),
                      thousands(m.activations / std::max<std::int64_t>(rows, 1)), thousands(rows));
  text += fmt::format("        {:<38}{:>12}\n", "temporary, shared by all units",
                      bytes_text(m.workspace));
  return text + fmt::format("        {:<38}{:>12}  beside the arena, measured now\n", "libraries",
                            bytes_text(resident_bytes()));
}

std::string table_text(const PlanView& plan) {
  std::vector<Saving> list = savings(plan);
  if (list.empty()) return "";
  const std::int64_t now = plan.memory.total;
  std::ranges::sort(list, {}, &Saving::total);
  std::string text = "what would save memory, each alone\n";
  for (const Saving& s : list)
    text += fmt::format("        {:<38}{:>12}  saves {:>3.0f} %\n", s.technique,
                        bytes_text(s.total), 100. * double(now - s.total) / double(now));
  std::erase_if(list, [](const Saving& s) { return s.rank == 0; });
  std::ranges::sort(list, {}, &Saving::rank);
  text +=
      "if it fits, change nothing: a larger micro-batch is the better use of what is left\n"
      "if it does not fit, try in this order what costs least\n";
  int number = 0;
  for (const Saving& s : list) text += fmt::format("        {}. {}\n", ++number, s.technique);
  return text +
         fmt::format("        {}. Budget<{{.bytes = …}}> chooses among the first by itself\n",
                     ++number);
}

}  // namespace

std::string savings_text(const PlanView& plan) { return anatomy_text(plan) + table_text(plan); }

}  // namespace sinter::cli
