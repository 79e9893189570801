// SPDX-License-Identifier: Apache-2.0
// A data source without its type.
#pragma once
#include <memory>
#include <utility>

#include "sinter/data/source.hpp"

namespace sinter {

namespace detail {
/// throws    ArgumentError: a source cannot be told where to end
[[noreturn]] void refuse_to_end();
}  // namespace detail

/// Holds any data source and is one itself (DataSource), so that code that takes batches need not
/// be a template. A policy of data hands its sources over as this (OpenedData).
class AnySource {
 public:
  /// Takes a data source; anything else is a compile error that names the member it lacks. `kept`
  /// owns what the source views, such as a text in memory, and lives as long as the source.
  template <class Source>
    requires(!std::same_as<Source, AnySource>)
  AnySource(Source source, std::shared_ptr<const void> kept = nullptr)
      : kept_(std::move(kept)), held_(hold(std::move(source))) {}

  /// Overwrites `batch` with the next one. Returns false, and leaves an empty batch, at the end of
  /// the source.
  bool next(HostBatch& batch) { return held_->next(batch); }
  /// Returns the source's state after the batch that next() or draw() gave last.
  SamplerState state() const { return held_->state(); }
  /// Continues from a state that state() gave.
  /// throws    what the source throws if it refuses `saved`
  void restore(const SamplerState& saved) { held_->restore(saved); }
  /// True if the held source is a DividedSource.
  bool divides() const { return held_->divides(); }
  /// True if the held source gives batches for ever, unless end_at() has set an end.
  bool never_ends() const { return held_->never_ends() && state().end == 0; }
  /// Sets where the held source ends (EndingSource).
  /// throws    ArgumentError if it cannot be told where to end, or cannot end exactly there
  std::string end_at(SourceEnd end) { return held_->end_at(end); }
  /// Returns the number of batches until the end that end_at() has set. It draws them all, and
  /// restores the state.
  /// throws    ArgumentError if there is no such end, or the source does not divide
  std::int64_t batches_left();
  /// Draws the next batch (DividedSource).
  /// requires  divides()
  bool draw(BatchDraw& draw) { return held_->draw(draw); }
  /// Makes a drawn batch (DividedSource).
  /// requires  divides()
  void fill(const BatchDraw& draw, HostBatch& batch) const { held_->fill(draw, batch); }

 private:
  struct Any {
    virtual ~Any() = default;
    virtual bool next(HostBatch& batch) = 0;
    virtual SamplerState state() const = 0;
    virtual void restore(const SamplerState& saved) = 0;
    virtual bool divides() const = 0;
    virtual bool never_ends() const = 0;
    virtual std::string end_at(SourceEnd end) = 0;
    virtual bool draw(BatchDraw& draw) = 0;
    virtual void fill(const BatchDraw& draw, HostBatch& batch) const = 0;
  };
  template <class Source>
  struct Held final : Any {
    Source source;
    explicit Held(Source s) : source(std::move(s)) {}
    bool next(HostBatch& batch) override { return detail::pull(source, batch); }
    SamplerState state() const override { return source.state(); }
    void restore(const SamplerState& saved) override { source.restore(saved); }
    bool divides() const override { return detail::divides(source); }
    bool never_ends() const override { return detail::NeverEnds<Source>; }
    std::string end_at([[maybe_unused]] SourceEnd end) override {
      if constexpr (EndingSource<Source>) return source.end_at(end);
      detail::refuse_to_end();
    }
    bool draw([[maybe_unused]] BatchDraw& draw) override {
      if constexpr (DividedSource<Source>) return source.draw(draw);
      return false;
    }
    void fill([[maybe_unused]] const BatchDraw& draw,
              [[maybe_unused]] HostBatch& batch) const override {
      if constexpr (DividedSource<Source>) source.fill(draw, batch);
    }
  };
  /// Gives one compile error if Source is no data source.
  template <class Source>
  static std::unique_ptr<Any> hold(Source source) {
    if constexpr (detail::is_data_source<Source>()) {
      return std::make_unique<Held<Source>>(std::move(source));
    } else {
      return nullptr;
    }
  }

  std::shared_ptr<const void> kept_;
  std::unique_ptr<Any> held_;  // declared after what it views, so that it is destroyed first
};

}  // namespace sinter
