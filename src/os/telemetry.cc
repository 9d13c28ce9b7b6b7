#include "os/telemetry.h"

#include <fmt/format.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <algorithm>

#include "base/check.h"

namespace slipway::os {
namespace {

spdlog::level::level_enum spdlog_level(LogLevel level) {
  switch (level) {
    case LogLevel::Debug:
      return spdlog::level::debug;
    case LogLevel::Info:
      return spdlog::level::info;
    case LogLevel::Warn:
      return spdlog::level::warn;
    case LogLevel::Error:
      return spdlog::level::err;
  }
  return spdlog::level::err;
}

bool needs_quotes(std::string_view value) {
  const auto is_plain = [](char c) { return static_cast<unsigned char>(c) > ' ' && c != '"' && c != '=' && c != 0x7f; };
  return value.empty() || !std::ranges::all_of(value, is_plain);
}

void append_escaped(std::string& out, std::string_view value) {
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out.push_back('\\');
      out.push_back(c);
    } else if (c == '\n') {
      out += "\\n";
    } else if (byte < ' ' || byte == 0x7f) {
      out += fmt::format("\\u{:04x}", byte);
    } else {
      out.push_back(c);
    }
  }
}

}  // namespace

StderrLog::StderrLog(LogLevel least)
    : logger_(std::make_shared<spdlog::logger>("slipway", std::make_shared<spdlog::sinks::stderr_sink_mt>())) {
  logger_->set_pattern("%l %v");
  logger_->set_level(spdlog_level(least));
  logger_->flush_on(spdlog::level::debug);
}

void StderrLog::write(LogLevel level, std::string_view text, Fields fields) {
  const auto wanted = spdlog_level(level);
  if (logger_->should_log(wanted)) logger_->log(wanted, spdlog::string_view_t(format_line(text, fields)));
}

std::string format_line(std::string_view text, Log::Fields fields) {
  std::string line;
  append_escaped(line, text);
  for (const auto& [key, value] : fields) {
    line.append(" ").append(key).append("=");
    const bool is_quoted = needs_quotes(value);
    if (is_quoted) line.push_back('"');
    append_escaped(line, value);
    if (is_quoted) line.push_back('"');
  }
  return line;
}

void MetricsRegistry::count(std::string_view name, std::string_view labels, double by) {
  sample(name, labels, Type::counter).value += by;
}

void MetricsRegistry::gauge(std::string_view name, std::string_view labels, double value) {
  sample(name, labels, Type::gauge).value = value;
}

void MetricsRegistry::observe(std::string_view name, std::string_view labels, double value) {
  Sample& into = sample(name, labels, Type::histogram);
  into.value += value;
  ++into.observations;
  const auto bound = std::ranges::lower_bound(kBounds, value);
  if (bound != kBounds.end()) ++into.buckets[static_cast<std::size_t>(bound - kBounds.begin())];
}

std::string MetricsRegistry::text() const {
  constexpr std::string_view kTypes[] = {"counter", "gauge", "histogram"};
  std::string out;
  for (const auto& [name, family] : families_) {
    out += fmt::format("# TYPE {} {}\n", name, kTypes[static_cast<std::size_t>(family.type)]);
    for (const auto& [labels, sample] : family.samples) {
      if (family.type == Type::histogram) {
        append_histogram(out, name, labels, sample);
      } else {
        out += labels.empty() ? fmt::format("{} {}\n", name, sample.value)
                              : fmt::format("{}{{{}}} {}\n", name, labels, sample.value);
      }
    }
  }
  return out;
}

MetricsRegistry::Sample& MetricsRegistry::sample(std::string_view name, std::string_view labels, Type type) {
  auto family = families_.find(name);
  if (family == families_.end()) family = families_.emplace(std::string(name), Family{.type = type, .samples = {}}).first;
  SLIPWAY_CHECK(family->second.type == type, name);
  auto& samples = family->second.samples;
  auto found = samples.find(labels);
  if (found == samples.end()) found = samples.emplace(std::string(labels), Sample{}).first;
  return found->second;
}

void MetricsRegistry::append_histogram(std::string& out, const std::string& name, const std::string& labels,
                                       const Sample& sample) {
  const std::string comma = labels.empty() ? "" : labels + ",";
  const std::string braces = labels.empty() ? "" : "{" + labels + "}";
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < kBounds.size(); ++i) {
    below += sample.buckets[i];
    out += fmt::format("{}_bucket{{{}le=\"{}\"}} {}\n", name, comma, kBounds[i], below);
  }
  out += fmt::format("{}_bucket{{{}le=\"+Inf\"}} {}\n", name, comma, sample.observations);
  out += fmt::format("{}_sum{} {}\n{}_count{} {}\n", name, braces, sample.value, name, braces, sample.observations);
}

}  // namespace slipway::os
