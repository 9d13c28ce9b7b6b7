// Log lines on standard error and metrics in memory. A line is `level text key=value …`; a value with spaces, quotes or control
// characters is quoted as in JSON. Metrics are shown in the Prometheus text format, version 0.0.4, sorted by name and labels.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>

#include "base/log.h"
#include "base/metrics.h"

namespace spdlog {
class logger;
}

namespace slipway::os {

class StderrLog : public Log {
 public:
  explicit StderrLog(LogLevel least);
  void write(LogLevel level, std::string_view text, Fields fields) override;

 private:
  std::shared_ptr<spdlog::logger> logger_;
};

/// The text and fields of a line.
std::string format_line(std::string_view text, Log::Fields fields);

/// For one thread. A name keeps the type of its first use; another use of it is a broken invariant.
class MetricsRegistry : public Metrics {
 public:
  void count(std::string_view name, std::string_view labels, double by) override;
  void gauge(std::string_view name, std::string_view labels, double value) override;
  /// Buckets fit seconds: 0.5 ms to 60 s.
  void observe(std::string_view name, std::string_view labels, double value) override;

  std::string text() const;

 private:
  static constexpr std::array kBounds = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                         0.25,   0.5,   1.0,    2.5,   5.0,  10.0,  30.0, 60.0};
  enum class Type : std::uint8_t { counter, gauge, histogram };
  struct Sample {
    double value = 0;  // of a histogram: the sum
    std::uint64_t observations = 0;
    std::array<std::uint64_t, kBounds.size()> buckets{};  // each counts what is at most its bound and above the one before
  };
  struct Family {
    Type type;
    std::map<std::string, Sample, std::less<>> samples;  // by labels
  };
  Sample& sample(std::string_view name, std::string_view labels, Type type);
  static void append_histogram(std::string& out, const std::string& name, const std::string& labels, const Sample& sample);

  std::map<std::string, Family, std::less<>> families_;
};

}  // namespace slipway::os
