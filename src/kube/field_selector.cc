#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "kube/field_text.h"
#include "kube/selector.h"

namespace slipway::kube {
namespace {

using FieldRequirement = FieldSelector::Requirement;

/// Names of upstream's field label functions that are no paths.
struct Alias {
  std::string_view kind;
  std::string_view field;
  std::string_view path;
  std::string_view when_absent;
};
constexpr std::array kAliases{
    Alias{"Event", "source", "source.component", ""},
    Alias{"Job", "status.successful", "status.succeeded", "0"},
    Alias{"Node", "spec.unschedulable", "spec.unschedulable", "false"},
    Alias{"ReplicaSet", "status.replicas", "status.replicas", "0"},
    Alias{"ReplicationController", "status.replicas", "status.replicas", "0"},
    Alias{"Pod", "spec.hostNetwork", "spec.hostNetwork", "false"},
    Alias{"Pod", "status.podIPs", "status.podIP", ""},
};

/// Cut at commas that no backslash escapes.
std::vector<std::string_view> terms_of(std::string_view text) {
  std::vector<std::string_view> terms;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == ',') {
      terms.push_back(text.substr(begin, at - begin));
      begin = at + 1;
    }
  }
  if (!text.empty()) terms.push_back(text.substr(begin));
  return terms;
}

Result<std::string> unescaped(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == ',' || text[at] == '=') {
      return fail(Reason::BadRequest,
                  fmt::format("invalid field selector: unescaped character in value: {}", static_cast<int>(text[at])));
    }
    if (text[at] == '\\') {
      ++at;
      if (at == text.size() || std::string_view("\\,=").find(text[at]) == std::string_view::npos) {
        return fail(Reason::BadRequest,
                    fmt::format("invalid field selector: invalid escape sequence: {}", text.substr(at - 1, 2)));
      }
    }
    out += text[at];
  }
  return out;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == ',' || c == '=') out += '\\';
    out += c;
  }
  return out;
}

std::string text_of(const json::Value& value, std::string_view when_absent) {
  if (value.is_string()) return value.str();
  if (value.is_number()) return value.number_text();
  if (value.is_bool()) return value.as_bool() ? "true" : "false";
  return std::string(when_absent);
}

}  // namespace

std::string field_text(const json::Value& object, std::string_view field) {
  const std::string_view kind = object["kind"].as_string();
  const auto alias = std::ranges::find_if(kAliases, [&](const Alias& one) { return one.field == field && one.kind == kind; });
  std::string_view path = alias == kAliases.end() ? field : alias->path;
  const json::Value* at = &object;
  while (true) {
    const std::size_t dot = path.find('.');
    at = &(*at)[path.substr(0, dot)];
    if (dot == std::string_view::npos) break;
    path.remove_prefix(dot + 1);
  }
  return text_of(*at, alias == kAliases.end() ? "" : alias->when_absent);
}

Result<FieldSelector> FieldSelector::parse(std::string_view text) {
  std::vector<std::string_view> terms = terms_of(text);
  std::ranges::sort(terms);
  FieldSelector out;
  for (const std::string_view term : terms) {
    if (term.empty()) continue;
    const std::size_t at = std::min(term.find("!="), term.find('='));
    if (at == std::string_view::npos) {
      return fail(Reason::BadRequest, fmt::format("invalid selector: '{}'; can't understand '{}'", text, term));
    }
    const bool is_equal = term[at] == '=';
    const std::size_t size = !is_equal || term.substr(at).starts_with("==") ? 2 : 1;
    SLIPWAY_TRY(value, unescaped(term.substr(at + size)));
    out.requirements_.push_back({.field = std::string(term.substr(0, at)), .is_equal = is_equal, .value = std::move(value)});
  }
  return out;
}

Result<void> FieldSelector::check(const std::vector<std::string>& supported) const {
  for (const FieldRequirement& one : requirements_) {
    if (one.field == "metadata.name" || one.field == "metadata.namespace") continue;
    if (std::ranges::find(supported, one.field) == supported.end()) {
      return fail(Reason::BadRequest, fmt::format("field label not supported: {}", one.field));
    }
  }
  return {};
}

bool FieldSelector::matches(const json::Value& object) const {
  return std::ranges::all_of(
      requirements_, [&](const FieldRequirement& one) { return (field_text(object, one.field) == one.value) == one.is_equal; });
}

std::optional<std::string> FieldSelector::demanded(std::string_view field) const {
  const auto found =
      std::ranges::find_if(requirements_, [&](const FieldRequirement& one) { return one.field == field && one.is_equal; });
  if (found == requirements_.end()) return std::nullopt;
  return found->value;
}

std::string FieldSelector::to_string() const {
  std::string out;
  for (const FieldRequirement& one : requirements_) {
    out += fmt::format("{}{}{}{}", out.empty() ? "" : ",", one.field, one.is_equal ? "=" : "!=", escaped(one.value));
  }
  return out;
}

}  // namespace slipway::kube
