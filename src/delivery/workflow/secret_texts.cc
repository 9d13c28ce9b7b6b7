#include "delivery/workflow/secret_texts.h"

#include <algorithm>
#include <string_view>

#include "base/digest.h"
#include "base/text.h"

namespace slipway::delivery::workflow {
namespace {

constexpr std::size_t kMinBytes = 4;
constexpr std::string_view kInstead = "(secret)";

/// Where `wanted` stands in `text` from `from` on, in capitals or not; the end when it does not.
std::size_t place_in(std::string_view text, std::string_view wanted, std::size_t from) {
  const std::string_view rest = text.substr(std::min(from, text.size()));
  const auto is_alike = [](char a, char b) { return lower(a) == lower(b); };
  const auto at = std::ranges::search(rest, wanted, is_alike).begin();
  return text.size() - rest.size() + static_cast<std::size_t>(at - rest.begin());
}

}  // namespace

void SecretTexts::add(const json::Value& read) {
  if (read.is_string()) {
    const std::string text = read.str();
    if (text.size() >= kMinBytes) texts_.insert(text);
    if (std::string decoded; base64_decode(text, decoded) && decoded.size() >= kMinBytes) texts_.insert(decoded);
  } else if (read.is_array()) {
    for (const json::Value& item : read.items()) add(item);
  } else if (read.is_object() && read["apiVersion"].is_string() && read["kind"].is_string()) {
    add_object(read, read["kind"].as_string());
  } else if (read.is_object()) {
    for (const auto& [key, value] : read.members()) add(value);
  }
}

void SecretTexts::add_object(const json::Value& object, std::string_view kind) {
  constexpr std::string_view kList = "List";
  if (kind == "Secret") {
    add(object["data"]);
    add(object["stringData"]);
  } else if (kind.ends_with(kList)) {
    kind.remove_suffix(kList.size());  // items of a SecretList do not name their kind
    for (const json::Value& item : object["items"].items()) {
      add_object(item, item["kind"].is_string() ? item["kind"].as_string() : kind);
    }
  }
}

std::string SecretTexts::without(std::string text) const {
  for (const std::string& secret : texts_) {
    for (std::size_t at = place_in(text, secret, 0); at < text.size(); at = place_in(text, secret, at + kInstead.size())) {
      text.replace(at, secret.size(), kInstead);
    }
  }
  return text;
}

}  // namespace slipway::delivery::workflow
