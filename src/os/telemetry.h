// Log lines on standard error and metrics in memory. A line is `level text key=value …`; a value with spaces, quotes or control
// characters is quoted as in JSON. With LogFormat::Json a line is an object:
// `{"time":…,"level":"warning","message":…,"key":"value"}`, its time in UTC. Metrics are shown in the Prometheus text format,
// version 0.0.4, sorted by name and labels:
//
//   # TYPE apiserver_request_total counter
//   apiserver_request_total{verb="GET",resource="pods",code="200"} 7
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>

#include "base/http.h"
#include "base/log.h"
#include "base/metrics.h"

namespace spdlog {
class logger;
}

namespace slipway::os {

enum class LogFormat : std::uint8_t { Text, Json };

class StderrLog : public Log {
 public:
  explicit StderrLog(LogLevel least, LogFormat format = LogFormat::Text);
  void write(LogLevel level, std::string_view text, Fields fields) override;

 private:
  LogFormat format_;
  std::shared_ptr<spdlog::logger> logger_;
};

/// The text and fields of a line.
std::string format_line(std::string_view text, Log::Fields fields);
/// The members of a line in JSON, without braces: `"message":"pod started","pod":"a-1"`.
std::string format_members(std::string_view text, Log::Fields fields);

/// Observations in buckets that fit seconds: 0.5 ms to 60 s.
struct Histogram {
  static constexpr std::array kBounds = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                         0.25,   0.5,   1.0,    2.5,   5.0,  10.0,  30.0, 60.0};

  void observe(double value);

  double sum = 0;
  std::uint64_t observations = 0;
  std::array<std::uint64_t, kBounds.size()> buckets{};  // each counts what is at most its bound and above the one before
};

/// For one thread. A name keeps the type of its first use; another use of it is a broken invariant. A name has at most
/// kMostSeries series; what would be one more is counted in a single series {overflow="true"}.
class MetricsRegistry : public Metrics {
 public:
  static constexpr std::size_t kMostSeries = 4096;

  void count(std::string_view name, Labels labels, double by) override;
  void gauge(std::string_view name, Labels labels, double value) override;
  void observe(std::string_view name, Labels labels, double value) override;

  /// The histogram without labels of that name; stays where it is as long as the registry lives.
  Histogram& histogram(std::string_view name);

  /// How far piece() has come: the last series it has shown.
  struct Cursor {
    std::string family{};
    std::string labels{};
    bool has_begun = false;
  };
  /// The next series in the Prometheus text format, about `bytes` of text; empty at the end. Series that come into being
  /// between two pieces are shown when they sort behind the cursor.
  std::string piece(Cursor& cursor, std::size_t bytes) const;
  /// All pieces.
  std::string text() const;

 private:
  enum class Type : std::uint8_t { counter, gauge, histogram };
  struct Sample {
    double value = 0;  // of a counter or gauge
    std::unique_ptr<Histogram> histogram{};
  };
  using Samples = std::map<std::string, Sample, std::less<>>;  // by labels in the text form: `verb="get",code="200"`
  struct Family {
    Type type;
    Samples samples;
  };
  Sample& sample(std::string_view name, Labels labels, Type type);
  static void append(std::string& out, const std::string& name, const Samples::value_type& series, Type type);

  std::map<std::string, Family, std::less<>> families_;
  std::string labels_;  // of the series that is looked for, kept for its room
};

/// Prometheus' text of a registry, made piece by piece while it is sent. The registry outlives it.
std::unique_ptr<http::BodyStream> metrics_stream(const MetricsRegistry& metrics);

}  // namespace slipway::os
