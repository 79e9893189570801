// A data source without its type.
#pragma once
#include <memory>
#include <utility>

#include "sinter/data/source.hpp"

namespace sinter {

/// Holds any data source and is one itself, so that what takes batches need not be a template.
class AnySource {
 public:
  /// kept: what the source looks into, such as a text in memory; it lives as long as the source.
  template <class Source>
    requires(!std::same_as<Source, AnySource> && DataSource<Source>)
  AnySource(Source source, std::shared_ptr<const void> kept = nullptr)
      : kept_(std::move(kept)), held_(std::make_unique<Held<Source>>(std::move(source))) {}

  /// False, and an empty batch, when the source has ended.
  bool next(HostBatch& batch) { return held_->next(batch); }
  SamplerState state() const { return held_->state(); }
  void restore(const SamplerState& saved) { held_->restore(saved); }

 private:
  struct Any {
    virtual ~Any() = default;
    virtual bool next(HostBatch& batch) = 0;
    virtual SamplerState state() const = 0;
    virtual void restore(const SamplerState& saved) = 0;
  };
  template <class Source>
  struct Held final : Any {
    Source source;
    explicit Held(Source s) : source(std::move(s)) {}
    bool next(HostBatch& batch) override { return pull(source, batch); }
    SamplerState state() const override { return source.state(); }
    void restore(const SamplerState& saved) override { source.restore(saved); }
  };
  std::shared_ptr<const void> kept_;
  std::unique_ptr<Any> held_;  // after what it looks into: it goes first
};

}  // namespace sinter
