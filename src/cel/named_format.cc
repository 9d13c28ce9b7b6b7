#include "cel/named_format.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include "cel/time_text.h"
#include "cel/url.h"

namespace slipway::cel {
namespace {

using Faults = std::vector<std::string>;

constexpr std::string_view kLabel = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
constexpr std::string_view kLabelWords =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an "
    "alphanumeric "
    "character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
constexpr std::string_view kSubdomain = "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
constexpr std::string_view kSubdomainWords =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end "
    "with an "
    "alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr std::string_view kLabel1035 = "[a-z]([-a-z0-9]*[a-z0-9])?";
constexpr std::string_view kLabel1035Words =
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end "
    "with an "
    "alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
constexpr std::string_view kValue = "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?";
constexpr std::string_view kValueWords =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with "
    "an "
    "alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
constexpr std::string_view kName = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
constexpr std::string_view kNameWords =
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    "(e.g. "
    "'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

Faults judge(std::string_view text, std::size_t most, std::string_view pattern, std::string_view words) {
  Faults faults;
  if (text.size() > most) faults.push_back(fmt::format("must be no more than {} characters", most));
  if (!re2::RE2::FullMatch(text, re2::RE2(pattern, re2::RE2::Quiet))) faults.emplace_back(words);
  return faults;
}

/// A prefix of a generated name may end with a dash.
std::string without_dash(std::string_view text) {
  std::string out(text);
  if (out.size() > 1 && out.ends_with('-')) out.back() = 'a';
  return out;
}

Faults label(std::string_view text) { return judge(text, 63, kLabel, kLabelWords); }
Faults subdomain(std::string_view text) { return judge(text, 253, kSubdomain, kSubdomainWords); }
Faults label1035(std::string_view text) { return judge(text, 63, kLabel1035, kLabel1035Words); }
Faults label_prefix(std::string_view text) { return label(without_dash(text)); }
Faults subdomain_prefix(std::string_view text) { return subdomain(without_dash(text)); }
Faults label1035_prefix(std::string_view text) { return label1035(without_dash(text)); }
Faults label_value(std::string_view text) { return judge(text, 63, kValue, kValueWords); }

Faults qualified_name(std::string_view text) {
  Faults faults;
  const auto slash = text.find('/');
  std::string_view name = text;
  if (slash != std::string_view::npos) {
    const std::string_view prefix = text.substr(0, slash);
    name = text.substr(slash + 1);
    if (name.find('/') != std::string_view::npos) {
      return {"a qualified name " + std::string(kNameWords.substr(10)) +
              " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"};
    }
    if (prefix.empty())
      faults.emplace_back("prefix part must be non-empty");
    else
      for (const std::string& fault : subdomain(prefix)) faults.push_back("prefix part " + fault);
  }
  if (name.empty())
    faults.emplace_back("name part must be non-empty");
  else if (name.size() > 63)
    faults.emplace_back("name part must be no more than 63 characters");
  for (std::string& fault : judge(name, SIZE_MAX, kName, kNameWords)) faults.push_back(std::move(fault));
  return faults;
}

Faults uri(std::string_view text) {
  const auto url = parse_url(text);
  return url ? Faults{} : Faults{url.error()};
}
Faults uuid(std::string_view text) {
  return judge(text, SIZE_MAX, "(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}",
               "does not match the UUID format");
}
Faults byte(std::string_view text) {
  return text.size() % 4 == 0 && from_base64(text) && text.find_first_of("-_") == std::string_view::npos
             ? Faults{}
             : Faults{"invalid base64"};
}
Faults date(std::string_view text) { return text.size() == 10 && parse_timestamp(text) ? Faults{} : Faults{"invalid date"}; }
Faults datetime(std::string_view text) {
  return text.size() > 10 && parse_timestamp(text) ? Faults{} : Faults{"invalid datetime"};
}

constexpr NamedFormat kFormats[] = {
    {"dns1123Label", label},
    {"dns1123Subdomain", subdomain},
    {"dns1035Label", label1035},
    {"qualifiedName", qualified_name},
    {"dns1123LabelPrefix", label_prefix},
    {"dns1123SubdomainPrefix", subdomain_prefix},
    {"dns1035LabelPrefix", label1035_prefix},
    {"labelValue", label_value},
    {"uri", uri},
    {"uuid", uuid},
    {"byte", byte},
    {"date", date},
    {"datetime", datetime},
};

}  // namespace

std::span<const NamedFormat> named_formats() { return kFormats; }

}  // namespace slipway::cel
