// ConfigMap and Secret: keys, sizes, immutability; stringData of a Secret becomes data.
#include <fmt/format.h>

#include <array>

#include "base/digest.h"
#include "json/text.h"
#include "kube/names.h"
#include "server/builtin/strategy.h"

namespace slipway::server {

namespace {

using json::Value;
using kube::Object;

constexpr std::size_t kMostBytes = std::size_t{1} << 20;

std::string key_path(std::string_view map, std::string_view key) { return fmt::format("{}[{}]", map, key); }

void key_causes(const Value& map, std::string_view path, std::vector<Cause>& causes) {
  for (const auto [key, value] : map.members()) {
    for (const std::string& fault : kube::config_key_faults(key)) {
      causes.push_back(field::invalid(key_path(path, key), json::print(Value(key)), fault));
    }
  }
}

/// Bytes of base64 values once decoded; a value that is no base64 is a cause.
std::size_t decoded_size(const Value& map, std::string_view path, std::vector<Cause>& causes) {
  std::size_t total = 0;
  for (const auto [key, value] : map.members()) {
    std::string bytes;
    if (!base64_decode(value.as_string(), bytes)) {
      causes.push_back(field::invalid(key_path(path, key), json::print(value), "must be base64"));
    }
    total += bytes.size();
  }
  return total;
}

void frozen_causes(const Object& object, const Object& old, std::initializer_list<const char*> maps,
                   std::vector<Cause>& causes) {
  if (!old["immutable"].as_bool()) return;
  constexpr const char* kWhy = "field is immutable when `immutable` is set";
  if (!object["immutable"].as_bool()) causes.push_back(field::forbidden("immutable", kWhy));
  for (const char* map : maps) {
    if (object[map] != old[map]) causes.push_back(field::forbidden(map, kWhy));
  }
}

void validate_config_map(const Object& object, const Object& old, std::vector<Cause>& causes) {
  key_causes(object["data"], "data", causes);
  key_causes(object["binaryData"], "binaryData", causes);
  std::size_t total = decoded_size(object["binaryData"], "binaryData", causes);
  for (const auto [key, value] : object["data"].members()) {
    total += value.as_string().size();
    if (object["binaryData"].has(key)) {
      causes.push_back(
          field::invalid(key_path("data", key), json::print(Value(key)), "duplicate of key present in binaryData"));
    }
  }
  if (total > kMostBytes) causes.push_back(field::too_long("", kMostBytes));
  frozen_causes(object, old, {"data", "binaryData"}, causes);
}

Object fill_secret(const Object& object) {
  if (!object.has("stringData")) return object;
  const Value& texts = object["stringData"];
  Object next = object;
  json::ObjectBuilder data(object["data"]);
  for (const auto [key, value] : texts.members()) data.set(key, base64_encode(value.as_string()));
  if (!data.empty()) next = next.with("data", data.build());
  return next.without("stringData");
}

/// Keys that a type of Secret must have.
void typed_key_causes(const Object& object, std::vector<Cause>& causes) {
  struct Row {
    std::string_view type;
    std::string_view key;
  };
  constexpr std::array kRows{Row{"kubernetes.io/dockercfg", ".dockercfg"},
                             Row{"kubernetes.io/dockerconfigjson", ".dockerconfigjson"},
                             Row{"kubernetes.io/ssh-auth", "ssh-privatekey"}, Row{"kubernetes.io/tls", "tls.crt"},
                             Row{"kubernetes.io/tls", "tls.key"}};
  for (const Row& row : kRows) {
    if (object["type"].as_string() == row.type && !object["data"].has(row.key))
      causes.push_back(field::required(key_path("data", row.key)));
  }
}

void validate_secret(const Object& object, const Object& old, std::vector<Cause>& causes) {
  key_causes(object["data"], "data", causes);
  if (decoded_size(object["data"], "data", causes) > kMostBytes) causes.push_back(field::too_long("data", kMostBytes));
  typed_key_causes(object, causes);
  if (!old.is_null() && object["type"] != old["type"]) {
    causes.push_back(field::invalid("type", json::print(object["type"]), "field is immutable"));
  }
  frozen_causes(object, old, {"data"}, causes);
}

}  // namespace

std::span<const Strategy> config_strategies() {
  static constexpr std::array kRows{
      Strategy{.group = "", .kind = "ConfigMap", .validate = validate_config_map},
      Strategy{.group = "", .kind = "Secret", .fill_defaults = fill_secret, .validate = validate_secret}};
  return kRows;
}

}  // namespace slipway::server
