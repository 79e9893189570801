// SPDX-License-Identifier: Apache-2.0
#include "sinter/trainer/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "sinter/files/io.hpp"
#include "sinter/trainer/core.hpp"
#include "trainer/profile_summary.hpp"

namespace sinter {
using namespace detail;
namespace {

using Clock = std::chrono::steady_clock;

enum class Part : std::uint8_t { training, evaluation, loop };

/// The time of one instruction, layer call or stage of the loop.
struct Span {
  std::int64_t begin, end;  // nanoseconds since the profile was made
  std::int32_t step, iteration;
  std::int32_t position;  // in the part's program, or the stage of the loop
  std::int16_t call;      // -1 for the instruction itself
  Part part;
};

/// The current stage of the loop.
struct At {
  Clock::time_point origin = Clock::now();
  std::int64_t begin = 0;
  std::int32_t step = 0;
  LoopStage stage{};

  std::int64_t now() const { return std::chrono::nanoseconds(Clock::now() - origin).count(); }
};

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

/// The spans of one rank; only its thread records them.
class Lane final : public Observer {
  const At& at;
  std::size_t room;
  std::int64_t began = 0;  // when the instruction began
  std::int64_t last = 0;   // when the previous layer call ended

 public:
  std::vector<Span> spans;
  std::int64_t cut = never;  // spans that begin later are not complete

  Lane(const At& a, std::size_t r) : at(a), room(r), spans(r) { spans.clear(); }

  void add(const Span& span) {
    if (spans.size() < room) return spans.push_back(span);
    cut = at.begin;
  }
  void before(const Machine&, int, int) override {
    if (cut == never) began = last = at.now();
  }
  void after_call(const Machine& machine, int position, int call) override {
    if (cut != never) return;
    std::int64_t now = at.now();
    add(span(machine, last, now, position, machine.now().iteration, call));
    last = now;
  }
  void after(const Machine& machine, int position, int iteration) override {
    if (cut == never) add(span(machine, began, at.now(), position, iteration, -1));
  }

 private:
  Span span(const Machine& machine, std::int64_t begin, std::int64_t end, int position,
            int iteration, int call) const {
    return {begin,
            end,
            at.step,
            iteration,
            position,
            std::int16_t(call),
            machine.now().training ? Part::training : Part::evaluation};
  }
};

std::string json_text(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Names of an instruction's span: how its JSON and that of its layer calls begins, and its name in
/// a summary. In a summary all units with a layer of one name are one.
struct Names {
  std::string instruction, kind;
  std::vector<std::string> calls, layers;
};

std::string opening(const std::string& name, const char* category) {
  return fmt::format(R"({{"name":{},"cat":"{}","ph":"X")", json_text(name), category);
}

std::vector<Names> names_of(const Model& model, std::span<const Instruction> program) {
  std::vector<Names> all;
  for (const Instruction& i : program) {
    std::string on = subject(model, i);
    Names names{
        opening(i.kind->name + (on.empty() ? "" : " " + on), "instruction"), i.kind->name, {}, {}};
    for (int p = 0; p < phases; ++p) {
      if (!(i.kind->phases & (1 << p))) continue;
      const Touches& phase = model.plan(i.what).phase[p];
      for (const LayerCall& step : model.layer_calls.subspan(phase.first_call, phase.calls)) {
        const Node& node = model.nodes[model.block(i.what).first_node + step.node];
        const bool named = *node.name;
        names.calls.push_back(opening(named ? node.name : unit_name(model, i.what),
                                      step.backward ? "layer backward" : "layer forward"));
        names.layers.push_back(fmt::format("{} of {}", step.backward ? "backward" : "forward",
                                           named ? node.name : model.units[i.what].name));
      }
    }
    all.push_back(std::move(names));
  }
  return all;
}

std::string stage_name(int stage) { return opening(loop_stage_names[stage], "loop"); }

}  // namespace

struct Profile::Recorder {
  const PlanView& plan;
  std::int64_t max_events;
  OutputFile file;
  At at;
  std::vector<std::unique_ptr<Lane>> lanes;
  std::int64_t last_step = 0;  // the last step that the loop began
  bool written = false;

  Recorder(std::filesystem::path path, const PlanView& p, int ranks, std::int64_t room)
      : plan(p), max_events(room), file(std::move(path)) {
    for (int r = 0; r < ranks; ++r)
      lanes.push_back(std::make_unique<Lane>(at, std::size_t(room / ranks)));
  }

  std::string write();

 private:
  struct Kept {
    std::int64_t events = 0, first_step = 0, last_step = 0;
    bool all = true;
  };
  /// Drops incomplete spans and sorts the rest: an outer span comes before those inside it.
  Kept keep();
  std::string text_of(const Kept& kept) const;
  void write_spans(std::string& text);
  std::string summary(const Kept& kept) const;
};

Profile::Recorder::Kept Profile::Recorder::keep() {
  Kept kept;
  std::int64_t cut = never;
  for (const auto& lane : lanes) cut = std::min(cut, lane->cut);
  kept.all = cut == never;
  for (const auto& lane : lanes) {
    std::erase_if(lane->spans, [&](const Span& span) { return span.begin >= cut; });
    std::sort(lane->spans.begin(), lane->spans.end(), [](const Span& a, const Span& b) {
      if (a.begin != b.begin) return a.begin < b.begin;
      return a.end != b.end ? a.end > b.end : a.call < b.call;
    });
    kept.events += std::int64_t(lane->spans.size());
    for (const Span& span : lane->spans) {
      if (span.part != Part::loop || span.position != int(LoopStage::step)) continue;
      if (kept.first_step == 0) kept.first_step = span.step;
      kept.last_step = span.step;
    }
  }
  return kept;
}

std::string Profile::Recorder::text_of(const Kept& kept) const {
  std::string steps = kept.last_step == 0
                          ? std::string("no whole step")
                          : fmt::format("steps {} to {}", kept.first_step, kept.last_step);
  if (!kept.all)
    steps +=
        fmt::format(" of those up to {}: {} events are recorded at most", last_step, max_events);
  return steps;
}

void Profile::Recorder::write_spans(std::string& text) {
  std::vector<Names> names[]{names_of(plan.model, plan.training.program),
                             names_of(plan.model, plan.evaluation.program)};
  for (std::size_t rank = 0; rank < lanes.size(); ++rank) {
    for (const Span& s : lanes[rank]->spans) {
      if (s.part == Part::loop) {
        text += stage_name(s.position);
      } else {
        const Names& n = names[int(s.part)][std::size_t(s.position)];
        text += s.call < 0 ? n.instruction : n.calls[std::size_t(s.call)];
      }
      fmt::format_to(std::back_inserter(text),
                     R"(,"ts":{:.3f},"dur":{:.3f},"pid":{},"tid":0,"args":{{"step":{})",
                     double(s.begin) / 1e3, double(s.end - s.begin) / 1e3, rank, s.step);
      if (s.part != Part::loop)
        fmt::format_to(std::back_inserter(text), R"(,"micro_batch":{},"position":{})", s.iteration,
                       s.position);
      text += "}},\n";
      if (text.size() < 1 << 20) continue;
      file.write(text);
      text.clear();
    }
  }
}

/// Sums up the time by name. A stage counts as a whole, except the step: it counts by layer calls
/// and by instructions without any.
std::string Profile::Recorder::summary(const Kept& kept) const {
  if (kept.last_step == 0) return "";
  const std::vector<Names> names = names_of(plan.model, plan.training.program);
  std::map<std::string, std::int64_t> spent;
  std::int64_t& rest = spent["between the instructions of the step"];
  for (const Span& s : lanes[0]->spans) {
    const std::int64_t time = s.end - s.begin;
    if (s.part == Part::loop) {
      const bool is_step = s.position == int(LoopStage::step);
      (is_step ? rest : spent[loop_stage_names[s.position]]) += time;
    } else if (s.part == Part::training) {
      const Names& n = names[std::size_t(s.position)];
      if (s.call < 0 && !n.calls.empty()) continue;
      spent[s.call < 0 ? n.kind : n.layers[std::size_t(s.call)]] += time;
      rest -= time;
    }
  }
  return profile_summary(spent, kept.last_step - kept.first_step + 1);
}

std::string Profile::Recorder::write() {
  written = true;
  Kept kept = keep();
  std::string content = text_of(kept);
  std::string text = fmt::format(
      R"({{"displayTimeUnit":"ms","otherData":{{"holds":{},"events":{},"most_events":{},)"
      R"("first_step":{},"last_step":{},"complete":{}}},"traceEvents":[)",
      json_text(content), kept.events, max_events, kept.first_step, kept.last_step, kept.all);
  text += "\n";
  write_spans(text);
  for (std::size_t rank = 0; rank < lanes.size(); ++rank) {
    std::string thread = rank == 0 ? "loop and program" : "program";
    text += fmt::format(
        R"({{"name":"process_name","ph":"M","pid":{0},"tid":0,"args":{{"name":"rank {0}"}}}},)"
        "\n"
        R"({{"name":"thread_name","ph":"M","pid":{0},"tid":0,"args":{{"name":"{1}"}}}})",
        rank, thread);
    text += rank + 1 < lanes.size() ? ",\n" : "\n";
  }
  file.write(text + "]}\n");
  file.finish();
  return fmt::format("the profile {} has {}; https://ui.perfetto.dev opens it.{}",
                     file.path().string(), content, summary(kept));
}

Profile::Profile(std::filesystem::path file, const PlanView& plan, int ranks,
                 std::int64_t max_events)
    : recorder(std::make_unique<Recorder>(std::move(file), plan, ranks, max_events)) {}

Profile::~Profile() {
  if (recorder->written) return;
  try {
    recorder->write();
  } catch (const std::exception&) {
  }
}

std::vector<Observer*> Profile::observers() const {
  std::vector<Observer*> all;
  for (const auto& lane : recorder->lanes) all.push_back(lane.get());
  return all;
}

void Profile::begin(LoopStage stage, std::int64_t step) {
  At& at = recorder->at;
  at.stage = stage;
  at.step = std::int32_t(step);
  at.begin = at.now();
  if (stage == LoopStage::step) recorder->last_step = step;
}

void Profile::end() {
  const At& at = recorder->at;
  Lane& lane = *recorder->lanes[0];
  if (lane.cut != never) return;
  lane.add({at.begin, at.now(), at.step, 0, std::int32_t(at.stage), -1, Part::loop});
}

std::string Profile::finish() { return recorder->write(); }

}  // namespace sinter
