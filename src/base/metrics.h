// Counters, gauges and histograms by name, as an interface (Env::metrics). The exposition format lives with the implementation.
#pragma once

#include <string_view>

namespace slipway {

class Metrics {
 public:
  virtual ~Metrics() = default;
  /// Adds to a counter. `labels` is already in exposition form: `verb="create",resource="jobs"`.
  virtual void count(std::string_view name, std::string_view labels, double by) = 0;
  virtual void gauge(std::string_view name, std::string_view labels, double value) = 0;
  virtual void observe(std::string_view name, std::string_view labels, double value) = 0;
};

class NullMetrics : public Metrics {
 public:
  void count(std::string_view, std::string_view, double) override {}
  void gauge(std::string_view, std::string_view, double) override {}
  void observe(std::string_view, std::string_view, double) override {}
};

}  // namespace slipway
