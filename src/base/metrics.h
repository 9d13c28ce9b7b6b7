// Counters, gauges and histograms by name, as an interface (Env::metrics). A series is a name and its labels. Names and values
// of labels come as they are; how they are escaped and shown lives with the implementation. Values of labels must come from a
// small set that the program knows: never from what a client sent. An implementation may fold series beyond a limit into one.
#pragma once

#include <initializer_list>
#include <string_view>

namespace slipway {

/// One label of a series. `value` is any text.
struct Label {
  std::string_view name;
  std::string_view value;
};
/// Only for the length of a call: `metrics.count("requests_total", {{"verb", "get"}}, 1)`. The order counts: the same labels in
/// another order are another series.
using Labels = std::initializer_list<Label>;

class Metrics {
 public:
  virtual ~Metrics() = default;
  /// Adds to a counter.
  virtual void count(std::string_view name, Labels labels, double by) = 0;
  /// Sets a gauge.
  virtual void gauge(std::string_view name, Labels labels, double value) = 0;
  /// Adds one observation to a histogram, in seconds.
  virtual void observe(std::string_view name, Labels labels, double value) = 0;
};

class NullMetrics : public Metrics {
 public:
  void count(std::string_view, Labels, double) override {}
  void gauge(std::string_view, Labels, double) override {}
  void observe(std::string_view, Labels, double) override {}
};

}  // namespace slipway
