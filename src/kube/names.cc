#include "kube/names.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "json/text.h"

namespace slipway::kube {
namespace {

constexpr std::size_t kLabelMax = 63;
constexpr std::size_t kSubdomainMax = 253;
constexpr std::size_t kPortNameMax = 15;
constexpr std::size_t kAnnotationsMax = std::size_t{256} << 10;

constexpr std::string_view kLabelPattern = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
constexpr std::string_view kSubdomainPattern = "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
constexpr std::string_view kDns1035Pattern = "[a-z]([-a-z0-9]*[a-z0-9])?";
constexpr std::string_view kQualifiedPattern = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
constexpr std::string_view kSubdomainRule =
    "subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric "
    "character";
constexpr std::string_view kQualifiedRule =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_lower_alnum(char c) { return is_lower(c) || is_digit(c); }
bool is_alnum(char c) { return is_lower_alnum(c) || (c >= 'A' && c <= 'Z'); }

std::string too_long(std::size_t max) { return fmt::format("must be no more than {} characters", max); }

/// The odd spacing between examples is upstream's.
std::string regex_fault(std::string_view rule, std::string_view pattern, std::initializer_list<std::string_view> examples) {
  std::string out = fmt::format("{} (", rule);
  for (const auto example : examples) out += fmt::format("{}'{}', ", out.ends_with('(') ? "e.g. " : " or ", example);
  return out + fmt::format("regex used for validation is '{}')", pattern);
}

bool is_label(std::string_view text) {
  return !text.empty() && is_lower_alnum(text.front()) && is_lower_alnum(text.back()) &&
         std::ranges::all_of(text, [](char c) { return is_lower_alnum(c) || c == '-'; });
}

bool is_subdomain(std::string_view text) {
  while (true) {
    const std::size_t dot = text.find('.');
    if (!is_label(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

bool is_qualified(std::string_view text) {
  return !text.empty() && is_alnum(text.front()) && is_alnum(text.back()) &&
         std::ranges::all_of(text, [](char c) { return is_alnum(c) || c == '-' || c == '_' || c == '.'; });
}

}  // namespace

Faults dns1123_label_faults(std::string_view text) {
  Faults faults;
  if (text.size() > kLabelMax) faults.push_back(too_long(kLabelMax));
  if (is_label(text)) return faults;
  if (is_subdomain(text)) {
    faults.push_back("must not contain dots");
  } else {
    faults.push_back(
        regex_fault("a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and "
                    "end with an alphanumeric character",
                    kLabelPattern, {"my-name", "123-abc"}));
  }
  return faults;
}

Faults dns1123_subdomain_faults(std::string_view text) {
  Faults faults;
  if (text.size() > kSubdomainMax) faults.push_back(too_long(kSubdomainMax));
  if (!is_subdomain(text)) {
    faults.push_back(regex_fault(fmt::format("a lowercase RFC 1123 {}", kSubdomainRule), kSubdomainPattern, {"example.com"}));
  }
  return faults;
}

Faults wildcard_dns1123_subdomain_faults(std::string_view text) {
  if (text.starts_with("*.") && is_subdomain(text.substr(2))) return {};
  return {regex_fault(
      "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower "
      "case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
      fmt::format("\\*\\.{}", kSubdomainPattern), {"*.example.com"})};
}

Faults dns1035_label_faults(std::string_view text) {
  Faults faults;
  if (text.size() > kLabelMax) faults.push_back(too_long(kLabelMax));
  if (!is_label(text) || !is_lower(text.front())) {
    faults.push_back(
        regex_fault("a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic "
                    "character, and end with an alphanumeric character",
                    kDns1035Pattern, {"my-name", "abc-123"}));
  }
  return faults;
}

Faults qualified_name_faults(std::string_view text) {
  Faults faults;
  const auto rule = [] { return regex_fault(kQualifiedRule, kQualifiedPattern, {"MyName", "my.name", "123-abc"}); };
  std::string_view name = text;
  if (const std::size_t slash = text.find('/'); slash != std::string_view::npos) {
    name = text.substr(slash + 1);
    if (name.find('/') != std::string_view::npos) {
      return {
          fmt::format("a qualified name {} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')", rule())};
    }
    if (slash == 0) faults.push_back("prefix part must be non-empty");
    if (slash != 0) {
      for (const auto& fault : dns1123_subdomain_faults(text.substr(0, slash))) faults.push_back("prefix part " + fault);
    }
  }
  if (name.empty()) faults.push_back("name part must be non-empty");
  if (name.size() > kLabelMax) faults.push_back("name part " + too_long(kLabelMax));
  if (!is_qualified(name)) faults.push_back("name part " + rule());
  return faults;
}

Faults label_value_faults(std::string_view text) {
  Faults faults;
  if (text.size() > kLabelMax) faults.push_back(too_long(kLabelMax));
  if (!text.empty() && !is_qualified(text)) {
    faults.push_back(
        regex_fault("a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must "
                    "start and end with an alphanumeric character",
                    fmt::format("({})?", kQualifiedPattern), {"MyValue", "my_value", "12345"}));
  }
  return faults;
}

Faults config_key_faults(std::string_view text) {
  Faults faults;
  if (text.size() > kSubdomainMax) faults.push_back(too_long(kSubdomainMax));
  if (text.empty() || !std::ranges::all_of(text, [](char c) { return is_alnum(c) || c == '-' || c == '_' || c == '.'; })) {
    faults.push_back(regex_fault("a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
                                 "[-._a-zA-Z0-9]+", {"key.name", "KEY_NAME", "key-name"}));
  }
  if (text == ".") faults.push_back("must not be '.'");
  if (text == "..") faults.push_back("must not be '..'");
  if (text != ".." && text.starts_with("..")) faults.push_back("must not start with '..'");
  return faults;
}

Faults env_name_faults(std::string_view text) {
  if (text.empty()) return {"environment variable name must be non-empty"};
  if (std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~' && c != '='; })) return {};
  return {"a valid environment variable name must consist only of printable ASCII characters other than '='"};
}

Faults port_name_faults(std::string_view text) {
  Faults faults;
  if (text.size() > kPortNameMax) faults.push_back(too_long(kPortNameMax));
  if (text.empty() || !std::ranges::all_of(text, [](char c) { return is_lower_alnum(c) || c == '-'; })) {
    faults.push_back("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  }
  if (std::ranges::none_of(text, is_lower)) faults.push_back("must contain at least one letter (a-z)");
  if (text.find("--") != std::string_view::npos) faults.push_back("must not contain consecutive hyphens");
  if (text.starts_with('-') || text.ends_with('-')) faults.push_back("must not begin or end with a hyphen");
  return faults;
}

Faults port_number_faults(std::int64_t port) {
  if (port >= 1 && port <= 65535) return {};
  return {"must be between 1 and 65535, inclusive"};
}

Faults percent_faults(std::string_view text) {
  const bool is_percent =
      text.size() > 1 && text.ends_with('%') && std::ranges::all_of(text.substr(0, text.size() - 1), is_digit);
  if (is_percent) return {};
  return {regex_fault("a valid percent string must be a numeric string followed by an ending '%'", "[0-9]+%", {"1%", "93%"})};
}

std::vector<Cause> label_causes(const json::Value& labels, const std::string& path) {
  std::vector<Cause> causes;
  for (const auto [key, value] : labels.members()) {
    const std::string quoted = json::print(json::Value(key));
    for (auto& fault : qualified_name_faults(key)) causes.push_back(field::invalid(path, quoted, std::move(fault)));
    if (!value.is_string()) continue;
    for (auto& fault : label_value_faults(value.as_string()))
      causes.push_back(field::invalid(path, json::print(value), std::move(fault)));
  }
  return causes;
}

std::vector<Cause> annotation_causes(const json::Value& annotations, const std::string& path) {
  std::vector<Cause> causes;
  std::size_t total = 0;
  for (const auto [key, value] : annotations.members()) {
    for (auto& fault : qualified_name_faults(lower(key)))
      causes.push_back(field::invalid(path, json::print(json::Value(key)), std::move(fault)));
    total += key.size() + value.as_string().size();
  }
  if (total > kAnnotationsMax) causes.push_back(field::too_long(path, kAnnotationsMax));
  return causes;
}

std::vector<Cause> finalizer_causes(const json::Value& finalizers, const std::string& path) {
  std::vector<Cause> causes;
  for (const json::Value& item : finalizers.items()) {
    if (!item.is_string()) continue;
    for (auto& fault : qualified_name_faults(item.as_string())) {
      causes.push_back(field::invalid(path, json::print(item), std::move(fault)));
    }
  }
  return causes;
}

std::string joined(const Faults& faults) {
  std::string out;
  for (const auto& fault : faults) out += (out.empty() ? "" : "; ") + fault;
  return out;
}

}  // namespace slipway::kube
