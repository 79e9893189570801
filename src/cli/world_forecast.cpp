// SPDX-License-Identifier: Apache-2.0
#include "cli/world_forecast.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/output.hpp"
#include "cli/plan_text.hpp"
#include "sinter/forecast/measure.hpp"
#include "sinter/hardware/stream.hpp"

namespace sinter::detail::cli {
namespace {

constexpr double microsecond = 1e-6, gigabyte = 1e9;
/// The link that is assumed if none is measured: between two cards over PCI Express 4.0 x16.
constexpr LinkCost assumed_link{10 * microsecond, 25 * gigabyte};
/// The assumed copies between a card and its host, in each direction.
constexpr OffloadCost assumed_copies{25 * gigabyte, 25 * gigabyte};

bool offloads(const RecipeView& recipe) { return recipe.plan->memory.offloaded > 0; }
const char* outside(const RecipeView& recipe) {
  return recipe.on_host ? "on disk" : "in memory of the host";
}

std::string seconds_text(double seconds) {
  if (seconds >= 1) return fmt::format("{:.2f} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.1f} ms", 1e3 * seconds);
  return fmt::format("{:.1f} µs", 1e6 * seconds);
}

int micro_batches_of(const RecipeView& recipe) {
  const int at_once = recipe.plan->micro * recipe.ranks();
  return std::max(1, (recipe.global_batch() + at_once - 1) / at_once);
}

void find_link(const RecipeView& recipe, const Arguments& a, WorldForecast& world) {
  const bool measures = recipe.on_host && !(a.link_latency && a.link_bandwidth);
  const LinkCost here = measures ? measured_link_of_this_host() : assumed_link;
  world.link_latency_measured = measures && !a.link_latency;
  world.link_bandwidth_measured = measures && !a.link_bandwidth;
  world.link.latency = a.link_latency ? *a.link_latency * microsecond : here.latency;
  world.link.bandwidth = a.link_bandwidth ? *a.link_bandwidth * gigabyte : here.bandwidth;
}

/// Finds the rates at which offloaded state moves. A disk that is given reads and writes at one
/// rate together. What is measured are copies by threads that would otherwise compute.
void find_offload(const RecipeView& recipe, const Arguments& a, kernel::Stream& stream,
                  WorldForecast& world) {
  if (!offloads(recipe)) return;
  world.offload_measured = recipe.on_host && !a.disk_bandwidth;
  if (a.disk_bandwidth) {
    const double rate = *a.disk_bandwidth * gigabyte;
    world.offload = {rate, rate, .5};
  } else {
    world.offload = recipe.on_host ? measured_offload_cost(stream, a.scratch) : assumed_copies;
    world.offload.taken = world.taken;
  }
}

std::string memory_text(const RecipeView& recipe, const WorldForecast& world) {
  const auto here = memory_parts(recipe.plan->memory), there = memory_parts(world.memory);
  std::string text = "        memory of each rank\n";
  const auto add = [&](const std::string& name, std::int64_t bytes, std::int64_t bytes_here) {
    text += fmt::format("          {:<12}{:>12}  {:>16} bytes", name, bytes_text(bytes),
                        thousands(bytes));
    if (bytes != bytes_here)
      text += fmt::format(", {} on {}", bytes_text(bytes_here), recipe.ranks());
  };
  for (std::size_t k = 0; k < there.size(); ++k) {
    add(there[k].first, there[k].second, here[k].second);
    text += "\n";
  }
  if (!offloads(recipe)) return text;
  add("offloaded", world.memory.offloaded, recipe.plan->memory.offloaded);
  return text + fmt::format(" {}, in no sum above\n", outside(recipe));
}

/// Returns how long a step waits for offloaded state.
std::string offload_text(const RecipeView& recipe, const Forecast& f) {
  return fmt::format(", and {} of waiting for {} ({:.1f} %)", seconds_text(f.offload),
                     recipe.on_host ? "the disk" : "copies of the host's memory",
                     f.step > 0 ? 100 * f.offload / f.step : 0);
}

/// Returns the lines, with a title before the first.
std::string lines_of(std::string_view title, const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    text += fmt::format("        {:<12}{}\n", title, line);
    title = "";
  }
  return text;
}

enum class Source { measured, given, assumed };
Source source_of(bool measured, bool given) {
  return measured ? Source::measured : given ? Source::given : Source::assumed;
}
/// Returns what is known of the link from this source; empty if nothing is.
std::string link_text(const Arguments& a, const WorldForecast& w, Source source) {
  std::string text;
  if (source_of(w.link_latency_measured, a.link_latency.has_value()) == source)
    text = "a latency of " + seconds_text(w.link.latency);
  if (source_of(w.link_bandwidth_measured, a.link_bandwidth.has_value()) == source)
    text += fmt::format("{}{}B/s", text.empty() ? "" : " and ", metric(w.link.bandwidth));
  return text;
}

/// Adds what is known from this source of the place that state is offloaded to.
void add_offload(const RecipeView& recipe, const Arguments& a, const WorldForecast& w,
                 std::vector<std::string>& measured, std::vector<std::string>& assumed) {
  if (w.offload_measured) {
    measured.push_back(fmt::format(
        "{}B/s from a file and {}B/s to it{}, and {:.0f} % of these both at once",
        metric(w.offload.fetch), metric(w.offload.store),
        a.scratch.empty() ? "" : " in " + printable(a.scratch, 4096), 100 * w.offload.beside));
    assumed.emplace_back(
        "that the system has memory to keep such a file in (--disk-bandwidth says what a disk "
        "does)");
  } else if (recipe.on_host) {
    assumed.push_back(fmt::format(
        "a disk that reads and writes {}B/s together beside the computation, as is said",
        metric(w.offload.fetch)));
  } else {
    assumed.push_back(fmt::format(
        "copies at {}B/s each way between a card and its host, over PCI Express 4.0 x16",
        metric(w.offload.fetch)));
  }
  if (w.ranks > 1) assumed.emplace_back("that no rank's offloading slows another's");
}

/// The facts behind a forecast, in words.
struct Sources {
  std::vector<std::string> measured, assumed;
};

Sources sources_of(const RecipeView& recipe, const Arguments& a, const WorldForecast& w) {
  Sources sources;
  auto& [measured, assumed] = sources;
  if (a.times) {
    measured.push_back("times of instructions, in " + printable(*a.times, 4096));
  } else {
    const std::string on =
        w.threads > 0 ? fmt::format(", on {} thread{}", w.threads, w.threads == 1 ? "" : "s") : "";
    measured.push_back(fmt::format("matmuls at {}FLOP/s and memory at {}B/s{}",
                                   metric(w.device.flops), metric(w.device.bytes), on));
    assumed.emplace_back(
        "computing at these rates, which is a bound (--times FILE takes measured times)");
  }
  const auto add_link = [&](std::vector<std::string>& to, Source source, const char* where) {
    if (const std::string link = link_text(a, w, source); !link.empty()) to.push_back(link + where);
  };
  add_link(measured, Source::measured, " between two ranks of this host, over shared memory");
  add_link(assumed, Source::given, " between ranks, as is said");
  add_link(assumed, Source::assumed, " between cards, over PCI Express 4.0 x16");
  if (offloads(recipe)) add_offload(recipe, a, w, measured, assumed);
  assumed.emplace_back("links that are all alike, and transfers by halving and doubling");
  if (recipe.on_host)
    assumed.push_back(
        fmt::format("transfers that take {:.0f} % of their time from computing", 100 * w.taken));
  if (w.straggler > 1)
    assumed.push_back(fmt::format("a last rank that computes {:.3g} times as long", w.straggler));
  return sources;
}

}  // namespace

void require_good_world(const RecipeView& recipe, const Arguments& a) {
  if (!a.world_ranks) {
    const auto refuse = [](bool given, std::string_view flag) {
      if (given)
        throw UsageError(
            fmt::format("{} is of a forecast for several ranks. Give --world N, too.", flag));
    };
    refuse(a.link_latency.has_value(), "--link-latency");
    refuse(a.link_bandwidth.has_value(), "--link-bandwidth");
    refuse(a.disk_bandwidth.has_value(), "--disk-bandwidth");
    refuse(a.straggler.has_value(), "--straggler");
    refuse(a.times.has_value(), "--times");
    refuse(!a.scratch.empty(), "--scratch");
    return;
  }
  if (a.disk_bandwidth && !(offloads(recipe) && recipe.on_host))
    throw UsageError(
        "--disk-bandwidth is for recipes that offload to disk (Offload), and this one does not. "
        "Leave it out.");
  if (a.disk_bandwidth && !a.scratch.empty())
    throw UsageError(
        "--scratch says where a disk is measured, and --disk-bandwidth what it does. Give one of "
        "the two.");
  if (!recipe.joins_worlds)
    throw UsageError(
        fmt::format("--world: the recipe {} has one rank, as its type says. Give it Ddp<> or "
                    "Zero<>, build it again, and ask that.",
                    recipe.name));
  const auto option = std::ranges::find(recipe.options, "parallel.ranks", &Option::dotted);
  const bool fixed = option != recipe.options.end() && !option->adjustable;
  if (fixed && recipe.ranks() == 1 && *a.world_ranks > 1)
    throw UsageError(
        fmt::format("--world: the type of the recipe {} says .ranks = 1, and so its program splits "
                    "nothing that {} ranks could share. Write a number from 2, and build it again.",
                    recipe.name, *a.world_ranks));
}

WorldForecast forecast_world(const RecipeView& recipe, const Arguments& a,
                             const MatmulRate& matmul) {
  WorldForecast world{.ranks = *a.world_ranks, .micro_batches = micro_batches_of(recipe)};
  const int threads = a.threads > 0 ? a.threads : threads_by_default();
  if (recipe.on_host) world.threads = threads;
  const PlanForRanks plan(*recipe.plan, world.ranks);
  world.memory = plan.view().memory;
  world.tokens =
      std::int64_t(world.ranks) * world.micro_batches * recipe.plan->micro * recipe.plan->context;
  kernel::Stream stream(threads);
  world.device = {matmul.flops, measured_memory_rate(stream)};
  find_link(recipe, a, world);
  world.taken = recipe.on_host ? 1.0 / threads : 0;
  find_offload(recipe, a, stream, world);
  world.straggler = a.straggler.value_or(1);
  std::vector<double> seconds = computing_seconds(plan.view(), world.device);
  if (a.times)
    seconds = profiled_seconds(*a.times, plan.view(), recipe.plan->model.share(), seconds);
  const WorldCosts costs{world.micro_batches, world.link, world.taken, world.straggler,
                         world.offload};
  world.step = forecast(plan, world.ranks, costs, seconds);
  return world;
}

std::string world_text(const RecipeView& recipe, const Arguments& a, const WorldForecast& w) {
  const Forecast& f = w.step;
  std::string text = fmt::format(
      "world   {} rank{}, each with {} micro-batch{} of {} sequence{}: {} tokens a step\n",
      thousands(w.ranks), w.ranks == 1 ? "" : "s", w.micro_batches,
      w.micro_batches == 1 ? "" : "es", recipe.plan->micro, recipe.plan->micro == 1 ? "" : "s",
      thousands(w.tokens));
  text += memory_text(recipe, w);
  text += fmt::format("        sends       {} a step from each rank, {} from all\n",
                      bytes_text(std::int64_t(f.sent)), bytes_text(std::int64_t(f.sent * w.ranks)));
  if (offloads(recipe))
    text += fmt::format("        fetches     {} a step, of what is {}, and stores {}\n",
                        bytes_text(std::int64_t(f.fetched)), outside(recipe),
                        bytes_text(std::int64_t(f.stored)));
  text +=
      fmt::format("        step        {}: {} of computing, {} of exposed communication ({:.1f} %)",
                  seconds_text(f.step), seconds_text(f.computing), seconds_text(f.exposed),
                  f.step > 0 ? 100 * f.exposed / f.step : 0);
  if (w.straggler > 1)
    text += fmt::format(", of which {} wait for the slow rank", seconds_text(f.late));
  if (offloads(recipe)) text += offload_text(recipe, f);
  if (f.step > 0)
    text += fmt::format("\n        speed       {}tokens/s", metric(double(w.tokens) / f.step));
  const Sources sources = sources_of(recipe, a, w);
  return text + "\n" + lines_of("measured", sources.measured) +
         lines_of("assumed", sources.assumed);
}

nlohmann::ordered_json world_json(const RecipeView& recipe, const Arguments& a,
                                  const WorldForecast& w) {
  nlohmann::ordered_json memory = nlohmann::ordered_json::object();
  for (const auto& [name, bytes] : memory_parts(w.memory)) memory[name] = bytes;
  if (w.memory.offloaded) memory["offloaded"] = w.memory.offloaded;
  nlohmann::ordered_json world{
      {"ranks", w.ranks},
      {"micro_batches", w.micro_batches},
      {"tokens_per_step", w.tokens},
      {"memory", memory},
      {"sent_bytes_of_each_rank", std::int64_t(w.step.sent)},
      {"sent_bytes", std::int64_t(w.step.sent * w.ranks)},
      {"step_s", w.step.step},
      {"computing_s", w.step.computing},
      {"exposed_s", w.step.exposed},
      {"waiting_for_straggler_s", w.step.late},
      {"device", {{"flops_per_s", w.device.flops}, {"bytes_per_s", w.device.bytes}}},
      {"link",
       {{"latency_s", w.link.latency},
        {"latency_measured", w.link_latency_measured},
        {"bytes_per_s", w.link.bandwidth},
        {"bandwidth_measured", w.link_bandwidth_measured}}},
      {"taken_from_computing", w.taken},
      {"straggler", w.straggler}};
  if (w.memory.offloaded)
    world["offload"] = {{"fetched_bytes", std::int64_t(w.step.fetched)},
                        {"stored_bytes", std::int64_t(w.step.stored)},
                        {"waiting_s", w.step.offload},
                        {"fetched_bytes_per_s", w.offload.fetch},
                        {"stored_bytes_per_s", w.offload.store},
                        {"both_at_once", w.offload.beside},
                        {"measured", w.offload_measured},
                        {"taken_from_computing", w.offload.taken}};
  const Sources sources = sources_of(recipe, a, w);
  world["threads"] = w.threads;
  world["tokens_per_s"] = w.step.step > 0 ? double(w.tokens) / w.step.step : 0;
  world["measured"] = sources.measured;
  world["assumed"] = sources.assumed;
  return world;
}

}  // namespace sinter::detail::cli
