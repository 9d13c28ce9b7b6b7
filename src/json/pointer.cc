#include "json/pointer.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace slipway::json {

namespace {

constexpr std::size_t kMostParts = 1000;

enum class Edit : std::uint8_t { Add, Replace, Remove };
using Parts = std::span<const std::string>;

std::optional<std::size_t> index_of(std::string_view part) {
  if (part.empty() || part.size() > 9 || (part.size() > 1 && part[0] == '0')) return std::nullopt;
  std::size_t index = 0;
  auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), index);
  if (error != std::errc{} || end != part.data() + part.size()) return std::nullopt;
  return index;
}

const Value* child(const Value& parent, std::string_view part) {
  if (!parent.is_array()) return parent.find(part);
  const auto index = index_of(part);
  return index && *index < parent.size() ? &parent.item(*index) : nullptr;
}

std::unexpected<Status> missing(Parts parts) {
  return fail(Reason::NotFound, fmt::format("missing path: \"{}\"", print_pointer(parts)));
}

Value put_child(const Value& parent, std::string_view part, Value value) {
  if (!parent.is_array()) return parent.with(part, std::move(value));
  return parent.with_item(*index_of(part), std::move(value));
}

Result<Value> edit_item(const Value& array, Parts parts, Value value, Edit edit) {
  const std::string& last = parts.back();
  const bool end = last == "-";
  const auto index = end ? std::optional(array.size()) : index_of(last);
  if (!index)
    return fail(Reason::BadRequest, fmt::format("\"{}\" is no index of the array in path \"{}\"", last, print_pointer(parts)));
  if (*index >= array.size() + (edit == Edit::Add ? 1 : 0)) {
    return fail(Reason::NotFound,
                fmt::format("index {} is out of the bounds of the array in path \"{}\"", last, print_pointer(parts)));
  }
  if (edit == Edit::Add) return array.inserted(*index, std::move(value));
  return edit == Edit::Replace ? array.with_item(*index, std::move(value)) : array.without_item(*index);
}

Result<Value> edit_last(const Value& parent, Parts parts, Value value, Edit edit) {
  if (parent.is_array()) return edit_item(parent, parts, std::move(value), edit);
  if (!parent.is_object()) return missing(parts);
  if (edit != Edit::Add && !parent.has(parts.back())) return missing(parts);
  return edit == Edit::Remove ? parent.without(parts.back()) : parent.with(parts.back(), std::move(value));
}

Result<Value> edit_at(const Value& document, Parts parts, Value value, Edit edit) {
  if (parts.empty()) return value;
  std::vector<const Value*> parents = {&document};
  for (const std::string& part : parts.first(parts.size() - 1)) {
    const Value* next = child(*parents.back(), part);
    if (next == nullptr) return missing(parts);
    parents.push_back(next);
  }
  auto changed = edit_last(*parents.back(), parts, std::move(value), edit);
  if (!changed) return changed;
  for (std::size_t i = parents.size() - 1; i > 0; --i) *changed = put_child(*parents[i - 1], parts[i - 1], std::move(*changed));
  return changed;
}

Result<std::string> decode_part(std::string_view part, std::string_view pointer) {
  std::string decoded;
  for (std::size_t i = 0; i < part.size(); ++i) {
    if (part[i] != '~') {
      decoded += part[i];
      continue;
    }
    ++i;
    if (i == part.size() || (part[i] != '0' && part[i] != '1')) {
      return fail(Reason::BadRequest, fmt::format("\"{}\" is no JSON pointer: \"~\" must be followed by 0 or 1", pointer));
    }
    decoded += part[i] == '0' ? '~' : '/';
  }
  return decoded;
}

}  // namespace

Result<std::vector<std::string>> parse_pointer(std::string_view pointer) {
  std::vector<std::string> parts;
  if (pointer.empty()) return parts;
  if (pointer[0] != '/')
    return fail(Reason::BadRequest, fmt::format("\"{}\" is no JSON pointer: it must begin with \"/\"", pointer));
  for (std::string_view rest = pointer; !rest.empty();) {
    rest.remove_prefix(1);
    const std::size_t end = std::min(rest.find('/'), rest.size());
    if (parts.size() == kMostParts)
      return fail(Reason::BadRequest, fmt::format("a JSON pointer has more than {} parts", kMostParts));
    SLIPWAY_TRY(part, decode_part(rest.substr(0, end), pointer));
    parts.push_back(std::move(part));
    rest.remove_prefix(end);
  }
  return parts;
}

std::string print_pointer(std::span<const std::string> parts) {
  std::string text;
  for (const std::string& part : parts) {
    text += '/';
    for (char c : part) {
      if (c == '~') {
        text += "~0";
      } else if (c == '/') {
        text += "~1";
      } else {
        text += c;
      }
    }
  }
  return text;
}

const Value* get_at(const Value& document, std::span<const std::string> parts) {
  const Value* at = &document;
  for (const std::string& part : parts) {
    at = child(*at, part);
    if (at == nullptr) break;
  }
  return at;
}

Result<Value> add_at(const Value& document, std::span<const std::string> parts, Value value) {
  return edit_at(document, parts, std::move(value), Edit::Add);
}

Result<Value> replace_at(const Value& document, std::span<const std::string> parts, Value value) {
  return edit_at(document, parts, std::move(value), Edit::Replace);
}

Result<Value> remove_at(const Value& document, std::span<const std::string> parts) {
  return edit_at(document, parts, Value(), Edit::Remove);
}

}  // namespace slipway::json
