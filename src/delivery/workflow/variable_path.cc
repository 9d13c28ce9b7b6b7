#include "delivery/workflow/variable_path.h"

#include <fmt/format.h>

#include <span>

#include "base/count.h"
#include "base/text.h"
#include "json/text.h"

namespace slipway::delivery::workflow {
namespace {

using json::Value;

/// More items than this are never made on the way to one.
constexpr std::size_t kMaxIndex = 10'000;

bool is_name(char c) {
  return c == '_' || c == '-' || c == '$' || c == '#' || is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'z');
}

std::unexpected<Status> no_path(std::string_view text) {
  return fail(Reason::BadRequest, fmt::format("{} is not a path", text));
}

/// Reads `"name"` at `at`; npos when it does not end.
std::size_t read_quoted(std::string_view text, std::size_t at, std::string& name) {
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] == '\\') ++at;
    if (at < text.size()) name += text[at];
  }
  return at < text.size() ? at + 1 : std::string_view::npos;
}

/// Reads `[0]` or `["name"]` at `at`.
std::size_t read_bracket(std::string_view text, std::size_t at, PathPart& part) {
  ++at;
  if (at < text.size() && text[at] == '"') {
    at = read_quoted(text, at, part.name);
  } else {
    const std::size_t begin = at;
    while (at < text.size() && is_digit(text[at]) && at - begin < 6) ++at;
    if (at == begin) return std::string_view::npos;
    part.name = text.substr(begin, at - begin);
    part.index = static_cast<std::size_t>(leading_count(part.name));
  }
  return at < text.size() && text[at] == ']' ? at + 1 : std::string_view::npos;
}

/// Structs merge, equal values agree; null when they do not.
std::optional<Value> merged(const Value& old, const Value& item) {
  if (old.is_null() || old == item) return item;
  if (!old.is_object() || !item.is_object()) return std::nullopt;
  Value result = old;
  for (const auto& [key, value] : item.members()) {
    auto both = merged(old[key], value);
    if (!both) return std::nullopt;
    result = result.with(key, std::move(*both));
  }
  return result;
}

Result<Value> put_at(const Value& value, std::span<const PathPart> parts, const Value& item, bool replaces) {
  if (parts.empty()) {
    if (replaces) return item;
    auto both = merged(value, item);
    if (both) return *both;
    return fail(Reason::Conflict, fmt::format("conflicting values {} and {}", json::print(value), json::print(item)));
  }
  const PathPart& part = parts.front();
  const bool is_item = part.index.has_value() && !value.is_object();
  if (!value.is_null() && !(is_item ? value.is_array() : value.is_object())) {
    return fail(Reason::Conflict, fmt::format("{} cannot be set in {}", part.name, json::print(value)));
  }
  if (!is_item) {
    SLIPWAY_TRY(inner, put_at(value[part.name], parts.subspan(1), item, replaces));
    return value.with(part.name, std::move(inner));
  }
  if (*part.index > kMaxIndex) return fail(Reason::BadRequest, fmt::format("index {} is too large", *part.index));
  SLIPWAY_TRY(inner, put_at(value.item(*part.index), parts.subspan(1), item, replaces));
  Value list = value;
  while (list.size() < *part.index) list = list.appended(Value());
  return list.with_item(*part.index, std::move(inner));
}

}  // namespace

Result<std::vector<PathPart>> parse_path(std::string_view text) {
  std::vector<PathPart> parts;
  std::size_t at = 0;
  while (at < text.size()) {
    PathPart part;
    if (text[at] == '[' && !parts.empty()) {
      at = read_bracket(text, at, part);
    } else {
      if (!parts.empty() && text[at++] != '.') return no_path(text);
      if (at < text.size() && text[at] == '"') {
        at = read_quoted(text, at, part.name);
      } else {
        const std::size_t begin = at;
        while (at < text.size() && is_name(text[at])) ++at;
        part.name = text.substr(begin, at - begin);
        if (part.name.empty()) return no_path(text);
      }
    }
    if (at == std::string_view::npos) return no_path(text);
    parts.push_back(std::move(part));
  }
  if (parts.empty()) return no_path(text);
  return parts;
}

const Value* look_up(const Value& value, std::string_view path) {
  const auto parts = parse_path(path);
  if (!parts) return nullptr;
  const Value* at = &value;
  for (const PathPart& part : *parts) {
    if (part.index && at->is_array()) {
      at = *part.index < at->size() ? &at->item(*part.index) : nullptr;
    } else {
      at = at->find(part.name);
    }
    if (at == nullptr) return nullptr;
  }
  return at;
}

Result<Value> put(const Value& value, std::string_view path, const Value& item, bool replaces) {
  SLIPWAY_TRY(parts, parse_path(path));
  return put_at(value, parts, item, replaces);
}

}  // namespace slipway::delivery::workflow
