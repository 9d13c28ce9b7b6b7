#include "delivery/workflow/variable_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/count.h"
#include "base/text.h"
#include "json/text.h"

namespace slipway::delivery::workflow {
namespace {

using json::Value;

/// Below json::Limits::max_depth, so that what holds the value can be read back too.
constexpr std::size_t kMaxDepth = 900;

bool is_name(char c) {
  return c == '_' || c == '-' || c == '$' || c == '#' || is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'z');
}

std::unexpected<Status> no_path(std::string_view text) {
  return fail(Reason::BadRequest, fmt::format("{} is not a path", text));
}

std::unexpected<Status> too_long(std::string_view text, std::string_view limit) {
  return fail(Reason::Invalid, fmt::format("the path {}... has more than {}", text.substr(0, 40), limit));
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
  json::ObjectBuilder result(old);
  for (const auto& [key, value] : item.members()) {
    auto both = merged(old[key], value);
    if (!both) return std::nullopt;
    result.set(key, std::move(*both));
  }
  return result.build();
}

/// `value` as a list with `item` at `index`; nulls are made before it.
Value with_item(const Value& value, std::size_t index, Value item) {
  if (index <= value.size()) return value.with_item(index, std::move(item));
  std::vector<Value> items(value.items().begin(), value.items().end());
  items.resize(index);
  items.push_back(std::move(item));
  return json::array(items);
}

/// `may_make` is how many items may still be made on the way.
Result<Value> put_at(const Value& value, std::span<const PathPart> parts, const Value& item, bool replaces,
                     std::size_t may_make) {
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
    SLIPWAY_TRY(inner, put_at(value[part.name], parts.subspan(1), item, replaces, may_make));
    return value.with(part.name, std::move(inner));
  }
  const std::size_t made = *part.index - std::min(*part.index, value.size());
  if (made > may_make) {
    return fail(Reason::BadRequest,
                fmt::format("index {} is too large: it would make more than {} items before it", *part.index, kMaxMadeItems));
  }
  SLIPWAY_TRY(inner, put_at(value.item(*part.index), parts.subspan(1), item, replaces, may_make - made));
  return with_item(value, *part.index, std::move(inner));
}

}  // namespace

Result<std::vector<PathPart>> parse_path(std::string_view text) {
  if (text.size() > kMaxPathBytes) return too_long(text, fmt::format("{} bytes", kMaxPathBytes));
  std::vector<PathPart> parts;
  std::size_t at = 0;
  while (at < text.size()) {
    if (parts.size() == kMaxPathParts) return too_long(text, fmt::format("{} parts", kMaxPathParts));
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
  if (parts.size() + item.depth() > kMaxDepth) {
    return fail(Reason::BadRequest, fmt::format("the value at {} would be nested deeper than {} levels", path, kMaxDepth));
  }
  return put_at(value, parts, item, replaces, kMaxMadeItems);
}

}  // namespace slipway::delivery::workflow
