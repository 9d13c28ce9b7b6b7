#include "serve/negotiate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/text.h"
#include "json/text.h"

namespace slipway::serve {
namespace {

constexpr std::string_view kMetaGroup = "meta.k8s.io";
constexpr std::string_view kNotAcceptable =
    "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf";
constexpr std::string_view kNotAcceptableStream = "only the following media types are accepted: application/json;stream=watch";

std::string_view unquoted(std::string_view text) {
  return text.size() >= 2 && text.front() == '"' && text.back() == '"' ? text.substr(1, text.size() - 2) : text;
}

/// Cuts what is before `separator` off the front.
std::string_view next_part(std::string_view& rest, char separator) {
  const auto at = rest.find(separator);
  const std::string_view part = rest.substr(0, at);
  rest = at == std::string_view::npos ? std::string_view{} : rest.substr(at + 1);
  return trimmed(part);
}

MediaRange parse_range(std::string_view text) {
  MediaRange range;
  std::string_view name = next_part(text, ';');
  range.type = next_part(name, '/');
  range.subtype = trimmed(name);
  while (!text.empty()) {
    std::string_view value = next_part(text, ';');
    const std::string_view key = next_part(value, '=');
    if (key.empty()) continue;
    if (key == "q") {
      range.quality = std::strtod(std::string(trimmed(value)).c_str(), nullptr);
    } else {
      range.parameters.emplace_back(key, unquoted(trimmed(value)));
    }
  }
  return range;
}

/// The shape that the parameters ask for; false when it is none that is served.
bool read_shape(const MediaRange& range, Form& form) {
  const std::string_view as = range.parameter("as");
  const std::string_view version = range.parameter("v");
  if (as.empty() && version.empty() && range.parameter("g").empty()) return true;
  if (range.parameter("g") != kMetaGroup || (version != "v1" && version != "v1beta1")) return false;
  form.meta_version = version;
  if (as == "Table") form.shape = Shape::Table;
  if (as == "PartialObjectMetadata") form.shape = Shape::Metadata;
  if (as == "PartialObjectMetadataList") form.shape = Shape::MetadataList;
  return form.shape != Shape::Object;
}

bool take(const MediaRange& range, Purpose purpose, Form& form) {
  form = Form{};
  if (!read_shape(range, form)) return false;
  if (range.matches("application", "json")) {
    if (range.parameter("pretty") == "1") form.is_pretty = true;
    const std::string_view stream = range.parameter("stream");
    return stream.empty() || stream == "watch";
  }
  form.encoding = Encoding::Yaml;
  return purpose == Purpose::Answer && range.matches("application", "yaml") && range.parameter("stream").empty();
}

bool wants_pretty(const http::Headers& headers, const net::Query& query) {
  if (const std::string_view asked = query.get("pretty"); !asked.empty()) {
    return asked == "1" || asked == "t" || asked == "T" || asked == "true" || asked == "TRUE" || asked == "True";
  }
  const std::string_view agent = headers.get("User-Agent");
  return agent.starts_with("curl") || agent.starts_with("Wget") || agent.starts_with("Mozilla/5.0");
}

Result<kube::RowObject> row_object_of(const net::Query& query) {
  const std::string_view asked = query.get("includeObject");
  if (asked.empty() || asked == "Metadata") return kube::RowObject::Metadata;
  if (asked == "Object") return kube::RowObject::Object;
  if (asked == "None") return kube::RowObject::None;
  return fail(kube::invalid(
      {"meta.k8s.io", "", "TableOptions"}, "",
      {field::invalid("includeObject", json::print(json::Value(asked)), "must be 'Metadata', 'Object', 'None', or empty")}));
}

}  // namespace

std::string_view MediaRange::parameter(std::string_view name) const {
  for (const auto& [key, value] : parameters) {
    if (key == name) return value;
  }
  return {};
}

bool MediaRange::matches(std::string_view media_type, std::string_view media_subtype) const {
  if (type == "*") return subtype == "*";
  return type == media_type && (subtype == media_subtype || subtype == "*");
}

std::vector<MediaRange> parse_accept(std::string_view header) {
  std::vector<MediaRange> ranges;
  for (const std::string_view text : http::split_list(header)) {
    MediaRange range = parse_range(text);
    if (range.type.empty() || range.subtype.empty()) continue;
    const auto worse = std::ranges::find_if(ranges, [&](const MediaRange& other) { return other.quality < range.quality; });
    ranges.insert(worse, std::move(range));
  }
  return ranges;
}

std::string Form::content_type() const { return encoding == Encoding::Json ? "application/json" : "application/yaml"; }

Form plain_form(const http::Headers& headers, const net::Query& query) {
  Form form;
  form.is_pretty = wants_pretty(headers, query);
  return form;
}

Result<Form> negotiate(const http::Headers& headers, const net::Query& query, Purpose purpose) {
  Form form;
  const std::string_view accept = headers.get("Accept");
  if (!accept.empty()) {
    const auto ranges = parse_accept(accept);
    const bool is_taken = std::ranges::any_of(ranges, [&](const MediaRange& range) { return take(range, purpose, form); });
    if (!is_taken) {
      return fail(Reason::NotAcceptable, std::string(purpose == Purpose::Answer ? kNotAcceptable : kNotAcceptableStream));
    }
  }
  form.is_pretty = purpose == Purpose::Answer && (form.is_pretty || wants_pretty(headers, query));
  if (form.shape == Shape::Table) {
    SLIPWAY_TRY(row_object, row_object_of(query));
    form.row_object = row_object;
  }
  return form;
}

Result<BodyEncoding> body_encoding(std::string_view content_type) {
  const std::string_view bare = trimmed(content_type.substr(0, content_type.find(';')));
  if (bare.empty() || bare == "application/json") return BodyEncoding::Json;
  if (bare == "application/yaml") return BodyEncoding::Yaml;
  if (bare == "application/vnd.kubernetes.protobuf") return BodyEncoding::Protobuf;
  return fail(Reason::UnsupportedMediaType,
              "the body of the request was in an unknown format - accepted media types include: application/json, "
              "application/yaml, application/vnd.kubernetes.protobuf");
}

}  // namespace slipway::serve
