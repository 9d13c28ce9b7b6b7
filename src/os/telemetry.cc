#include "os/telemetry.h"

#include <fmt/format.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <algorithm>
#include <iterator>

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

/// Pieces of this size go out at once.
constexpr std::size_t kPiece = std::size_t{64} << 10;

void append_type(std::string& out, std::string_view name, std::size_t type) {
  constexpr std::string_view kTypes[] = {"counter", "gauge", "histogram"};
  fmt::format_to(std::back_inserter(out), "# TYPE {} {}\n", name, kTypes[type]);
}

/// `name="value"`, with the escapes of the text format: backslash, quote, line feed.
void append_label(std::string& out, const Label& label) {
  if (!out.empty()) out += ',';
  out.append(label.name).append("=\"");
  for (const char c : label.value) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  out += '"';
}

class MetricsStream : public http::BodyStream {
 public:
  explicit MetricsStream(const MetricsRegistry& metrics) : metrics_(metrics) {}

  Task<Result<std::optional<std::string>>> next() override {
    std::string piece = is_closed_ ? std::string() : metrics_.piece(cursor_, kPiece);
    if (piece.empty()) co_return std::optional<std::string>{};
    co_return std::optional(std::move(piece));
  }
  void close() override { is_closed_ = true; }

 private:
  const MetricsRegistry& metrics_;
  MetricsRegistry::Cursor cursor_;
  bool is_closed_ = false;
};

}  // namespace

StderrLog::StderrLog(LogLevel least, LogFormat format)
    : format_(format), logger_(std::make_shared<spdlog::logger>("slipway", std::make_shared<spdlog::sinks::stderr_sink_mt>())) {
  const bool is_json = format == LogFormat::Json;
  logger_->set_pattern(is_json ? R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v})" : "%l %v",
                       spdlog::pattern_time_type::utc);
  logger_->set_level(spdlog_level(least));
  logger_->flush_on(spdlog::level::debug);
}

void StderrLog::write(LogLevel level, std::string_view text, Fields fields) {
  const auto wanted = spdlog_level(level);
  if (!logger_->should_log(wanted)) return;
  const std::string line = format_ == LogFormat::Json ? format_members(text, fields) : format_line(text, fields);
  logger_->log(wanted, spdlog::string_view_t(line));
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

std::string format_members(std::string_view text, Log::Fields fields) {
  std::string line = R"("message":")";
  append_escaped(line, text);
  for (const auto& [key, value] : fields) {
    line += R"(",")";
    append_escaped(line, key);
    line += R"(":")";
    append_escaped(line, value);
  }
  return line + '"';
}

void Histogram::observe(double value) {
  sum += value;
  ++observations;
  const auto bound = std::ranges::lower_bound(kBounds, value);
  if (bound != kBounds.end()) ++buckets[static_cast<std::size_t>(bound - kBounds.begin())];
}

void MetricsRegistry::count(std::string_view name, Labels labels, double by) {
  sample(name, labels, Type::counter).value += by;
}

void MetricsRegistry::gauge(std::string_view name, Labels labels, double value) {
  sample(name, labels, Type::gauge).value = value;
}

void MetricsRegistry::observe(std::string_view name, Labels labels, double value) {
  sample(name, labels, Type::histogram).histogram->observe(value);
}

Histogram& MetricsRegistry::histogram(std::string_view name) { return *sample(name, {}, Type::histogram).histogram; }

std::string MetricsRegistry::text() const {
  std::string out;
  Cursor cursor;
  for (std::string more = piece(cursor, kPiece); !more.empty(); more = piece(cursor, kPiece)) out += more;
  return out;
}

std::string MetricsRegistry::piece(Cursor& cursor, std::size_t bytes) const {
  std::string out;
  auto family = families_.lower_bound(cursor.family);
  for (; family != families_.end(); ++family) {
    const auto& [name, content] = *family;
    const bool is_continued = cursor.has_begun && name == cursor.family;
    auto series = is_continued ? content.samples.upper_bound(cursor.labels) : content.samples.begin();
    if (!is_continued) append_type(out, name, static_cast<std::size_t>(content.type));
    for (; series != content.samples.end(); ++series) {
      append(out, name, *series, content.type);
      cursor = {name, series->first, true};
      if (out.size() >= bytes) return out;
    }
  }
  return out;
}

MetricsRegistry::Sample& MetricsRegistry::sample(std::string_view name, Labels labels, Type type) {
  auto family = families_.find(name);
  if (family == families_.end()) family = families_.emplace(std::string(name), Family{.type = type, .samples = {}}).first;
  SLIPWAY_CHECK(family->second.type == type, name);
  auto& samples = family->second.samples;
  labels_.clear();
  for (const Label& label : labels) append_label(labels_, label);
  auto found = samples.find(labels_);
  if (found != samples.end()) return found->second;
  if (samples.size() >= kMostSeries) {
    labels_.clear();
    append_label(labels_, {"overflow", "true"});
  }
  found = samples.try_emplace(labels_).first;
  if (type == Type::histogram && !found->second.histogram) found->second.histogram = std::make_unique<Histogram>();
  return found->second;
}

void MetricsRegistry::append(std::string& out, const std::string& name, const Samples::value_type& series, Type type) {
  const auto& [labels, sample] = series;
  const std::string braces = labels.empty() ? "" : "{" + labels + "}";
  auto to = std::back_inserter(out);
  if (type != Type::histogram) {
    fmt::format_to(to, "{}{} {}\n", name, braces, sample.value);
    return;
  }
  const std::string comma = labels.empty() ? "" : labels + ",";
  const Histogram& histogram = *sample.histogram;
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < Histogram::kBounds.size(); ++i) {
    below += histogram.buckets[i];
    fmt::format_to(to, "{}_bucket{{{}le=\"{}\"}} {}\n", name, comma, Histogram::kBounds[i], below);
  }
  fmt::format_to(to, "{}_bucket{{{}le=\"+Inf\"}} {}\n", name, comma, histogram.observations);
  fmt::format_to(to, "{}_sum{} {}\n{}_count{} {}\n", name, braces, histogram.sum, name, braces, histogram.observations);
}

std::unique_ptr<http::BodyStream> metrics_stream(const MetricsRegistry& metrics) {
  return std::make_unique<MetricsStream>(metrics);
}

}  // namespace slipway::os
