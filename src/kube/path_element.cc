#include <algorithm>
#include <charconv>
#include <compare>

#include "json/text.h"
#include "kube/field_set.h"

namespace slipway::kube {
namespace {

using json::Value;

int rank(json::Type type) {
  switch (type) {
    case json::Type::Int:
    case json::Type::Double:
    case json::Type::Number:
      return 0;
    case json::Type::String:
      return 1;
    case json::Type::Bool:
      return 2;
    case json::Type::Array:
      return 3;
    case json::Type::Object:
      return 4;
    case json::Type::Null:
      return 5;
  }
  return 5;
}

int sign(std::partial_ordering order) { return order < 0 ? -1 : order > 0 ? 1 : 0; }

int compare_scalars(const Value& left, const Value& right) {
  if (int order = rank(left.type()) - rank(right.type()); order != 0) return order;
  if (left.is_string()) return left.as_string().compare(right.as_string());
  if (left.is_int() && right.is_int()) return sign(left.as_int() <=> right.as_int());
  if (left.is_number()) return sign(left.as_double() <=> right.as_double());
  if (left.is_bool()) return int{left.as_bool()} - int{right.as_bool()};
  if (left == right) return 0;
  return json::print(left).compare(json::print(right));  // containers are no keys; any fixed order will do
}

int compare_keys(const Value& left, const Value& right) {
  auto l = left.members();
  auto r = right.members();
  auto i = l.begin();
  auto j = r.begin();
  for (; i != l.end() && j != r.end(); ++i, ++j) {
    if (int order = (*i).key.compare((*j).key); order != 0) return order;
    if (int order = compare_scalars((*i).value, (*j).value); order != 0) return order;
  }
  return sign(l.size() <=> r.size());
}

std::unexpected<Status> malformed(std::string_view text) {
  return fail(Reason::BadRequest, "malformed path element \"" + std::string(text) + "\"");
}

// Reads `{"name":"web","port":80}` as serialize_to writes it when its texts need no escapes. nullopt: ask the JSON parser.
std::optional<Value> read_plain_key(std::string_view text) {
  auto take = [&text](char c) {
    if (text.empty() || text.front() != c) return false;
    text.remove_prefix(1);
    return true;
  };
  auto take_string = [&]() -> std::optional<std::string_view> {
    if (!take('"')) return std::nullopt;
    std::size_t end = 0;
    while (end < text.size() && text[end] != '"') {
      if (text[end] == '\\' || static_cast<unsigned char>(text[end]) < 0x20 || static_cast<unsigned char>(text[end]) > 0x7e) {
        return std::nullopt;
      }
      ++end;
    }
    if (end == text.size()) return std::nullopt;
    std::string_view found = text.substr(0, end);
    text.remove_prefix(end + 1);
    return found;
  };
  if (!take('{')) return std::nullopt;
  json::ObjectBuilder fields(2);
  do {
    auto name = take_string();
    if (!name || !take(':')) return std::nullopt;
    if (auto string = take_string()) {
      fields.set(*name, Value(*string));
      continue;
    }
    std::int64_t number = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end == text.data() + text.size() || (*end != ',' && *end != '}')) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    fields.set(*name, Value(number));
  } while (take(','));
  if (!take('}') || !text.empty()) return std::nullopt;
  return fields.build();
}

Result<Value> read_key(std::string_view text) {
  if (auto plain = read_plain_key(text)) return *std::move(plain);
  SLIPWAY_TRY(value, json::parse(text));
  if (!value.is_object()) return malformed(text);
  return value;
}

}  // namespace

PathElement PathElement::key(const Value& fields) {
  std::vector<std::pair<std::string_view, Value>> sorted;
  for (auto [name, value] : fields.members()) sorted.emplace_back(name, value);
  auto name_of = [](const auto& one) { return one.first; };
  if (std::ranges::is_sorted(sorted, std::ranges::less(), name_of)) return {Kind::Key, fields};
  std::ranges::sort(sorted, std::ranges::less(), name_of);
  json::ObjectBuilder result(sorted.size());
  for (auto& [name, value] : sorted) result.add(name, std::move(value));
  return {Kind::Key, result.build()};
}

Result<std::optional<PathElement>> PathElement::parse(std::string_view text) {
  if (text.size() < 2 || text[1] != ':') return malformed(text);
  std::string_view content = text.substr(2);
  switch (text[0]) {
    case 'f':
      return field(content);
    case 'k': {
      SLIPWAY_TRY(fields, read_key(content));
      return key(fields);
    }
    case 'v': {
      SLIPWAY_TRY(scalar, json::parse(content));
      return value(scalar);
    }
    case 'i': {
      std::int64_t at = 0;
      auto [end, error] = std::from_chars(content.data(), content.data() + content.size(), at);
      if (error != std::errc() || end != content.data() + content.size()) return malformed(text);
      return index(at);
    }
    default:
      return std::nullopt;
  }
}

int PathElement::compare(const PathElement& other) const {
  if (kind_ != other.kind_) return static_cast<int>(kind_) - static_cast<int>(other.kind_);
  switch (kind_) {
    case Kind::Field:
      return content_.as_string().compare(other.content_.as_string());
    case Kind::Key:
      return compare_keys(content_, other.content_);
    case Kind::Value:
    case Kind::Index:
      return compare_scalars(content_, other.content_);
  }
  return 0;
}

void PathElement::serialize_to(std::string& out) const {
  switch (kind_) {
    case Kind::Field:
      out += "f:";
      out += content_.as_string();
      return;
    case Kind::Key:
      out += "k:";
      break;
    case Kind::Value:
      out += "v:";
      break;
    case Kind::Index:
      out += "i:";
      break;
  }
  json::print_to(out, content_);
}

void PathElement::print_to(std::string& out) const {
  switch (kind_) {
    case Kind::Field:
      out += '.';
      out += content_.as_string();
      return;
    case Kind::Key: {
      char separator = '[';
      for (auto [name, value] : content_.members()) {
        out += separator;
        out += name;
        out += '=';
        json::print_to(out, value);
        separator = ',';
      }
      out += ']';
      return;
    }
    case Kind::Value:
      out += "[=";
      json::print_to(out, content_);
      out += ']';
      return;
    case Kind::Index:
      out += '[';
      json::print_to(out, content_);
      out += ']';
      return;
  }
}

std::string to_string(const FieldPath& path) {
  std::string out;
  for (const PathElement& element : path) element.print_to(out);
  return out;
}

}  // namespace slipway::kube
