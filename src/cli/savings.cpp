#include "cli/savings.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "cli/output.hpp"
#include "sinter/memory/checkpoint.hpp"
#include "sinter/plan/unit_planner.hpp"

namespace sinter::cli {
namespace {

constexpr bool nothing(const Layer&) { return false; }
constexpr bool what_is_cheap(const Layer& layer) { return layer.cheap; }

/// What may be changed of a plan.
struct Variant {
  int micro;
  Sizes sizes;  // but rows
  RecomputedInside recomputed{};
  Program program;
  std::vector<Region> regions;
};

/// The recipe's own.
Variant own(const PlanView& plan) {
  Variant v{plan.micro, plan.model.sizes, plan.recomputed, {}, {}};
  v.program.assign(plan.training.program.begin(), plan.training.program.end());
  v.regions.assign(plan.model.regions.begin(), plan.model.regions.end());
  return v;
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
  const Program evaluation(plan.evaluation.program.begin(), plan.evaluation.program.end());
  return std::max(place(model, v.program).peak, place(model, evaluation).peak);
}

/// Recomputes units whole, or what the layer function says inside of them, instead of what the
/// recipe does.
void recompute_instead(const PlanView& plan, Variant& v, bool (*inside)(const Layer&), bool units) {
  v.recomputed = {inside};
  std::erase_if(v.program,
                [](const Instruction& i) { return i.kind->phases == calls_of(Phase::recompute); });
  if (units) v.program = recompute_units(plan.model, v.program, 1);
}

void use(const PlanView& plan, Variant& v, const Alternative& a) {
  if (a.elements) {
    v.sizes.element = *a.elements;
    for (int t = 0; t < types; ++t) v.sizes.bytes[t] = bytes_of(v.sizes.element[t]);
  }
  if (!a.update) return;
  for (Instruction& i : v.program)
    if (i.kind->role == Role::update) i.kind = a.update;
  std::erase_if(v.regions, [&](const Region& r) { return r.owner == plan.optimizer; });
  v.regions.insert(v.regions.end(), a.regions.begin(), a.regions.end());
}

/// What is worth a try first, by what it costs: the later, the more.
constexpr std::array by_cost{std::string_view("half the micro-batch"),
                             std::string_view("selective"),
                             std::string_view("Bf16"),
                             std::string_view("micro-batches of 1"),
                             std::string_view("full"),
                             std::string_view("AdamW8bit<>"),
                             std::string_view("Adafactor<>")};
int rank(std::string_view what) {
  const auto at = std::ranges::find(by_cost, what);
  return at == by_cost.end() ? 0 : int(at - by_cost.begin()) + 1;
}

class Table {
  const PlanView& plan;

 public:
  std::vector<Saving> list{};

  explicit Table(const PlanView& p) : plan(p) {}
  /// Where it saves.
  void add(std::string technique, int rank, auto change) {
    Variant v = own(plan);
    change(v);
    const std::int64_t total = total_of(plan, v);
    if (total < plan.memory.total) list.push_back({std::move(technique), total, rank});
  }
};

}  // namespace

std::vector<Saving> savings(const RecipeView& recipe) {
  const PlanView& plan = *recipe.plan;
  Table table(plan);
  auto smaller = [&](int micro, std::string_view what) {
    table.add(fmt::format("Batch<{{.micro = {}}}>, accumulating", micro), rank(what),
              [&](Variant& v) { v.micro = micro; });
  };
  if (plan.micro > 2 && plan.micro % 2 == 0) smaller(plan.micro / 2, "half the micro-batch");
  if (plan.micro > 1) smaller(1, "micro-batches of 1");
  table.add("Checkpoint<{.policy = selective}>", rank("selective"),
            [&](Variant& v) { recompute_instead(plan, v, what_is_cheap, false); });
  table.add("Checkpoint<>, recomputing whole units", rank("full"),
            [&](Variant& v) { recompute_instead(plan, v, nothing, true); });
  for (const Alternative& a : recipe.alternatives())
    table.add(a.policy, rank(a.policy), [&](Variant& v) { use(plan, v, a); });
  return std::move(table.list);
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

std::string table_text(const RecipeView& recipe) {
  std::vector<Saving> list = savings(recipe);
  if (list.empty()) return "";
  const std::int64_t now = recipe.plan->memory.total;
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

std::string savings_text(const RecipeView& recipe) {
  return anatomy_text(*recipe.plan) + table_text(recipe);
}

}  // namespace sinter::cli
