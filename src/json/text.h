// JSON and YAML text to values and back. Errors are BadRequest and give line and column (from 1). Duplicate keys are an error.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "json/value.h"

namespace slipway::json {

struct Limits {
  std::size_t max_bytes = std::size_t{3} << 20;  // as the API server's body limit
  std::size_t max_depth = 1000;                  // Go's encoding/json allows 10,000; ours keeps stacks small
};

/// Any JSON text. BadRequest "json: line 3, column 7: …"; RequestEntityTooLarge beyond max_bytes.
Result<Value> parse(std::string_view text, Limits limits = {});
/// The compact form, as Go's encoding/json writes it but without HTML escapes.
std::string print(const Value& value);
void print_to(std::string& out, const Value& value);
/// Indented by `indent` spaces, as kubectl -o json.
std::string print_pretty(const Value& value, int indent = 4);

/// One YAML document with the scalar rules of sigs.k8s.io/yaml (YAML 1.1 booleans and numbers as Go's yaml.v2 reads them).
Result<Value> parse_yaml(std::string_view text, Limits limits = {});
struct YamlDocument {
  Value value;
  std::size_t line = 1;  // where it begins
};
/// Documents between "---"; empty ones are left out. JSON documents are YAML too.
Result<std::vector<YamlDocument>> parse_yaml_all(std::string_view text, Limits limits = {});
std::string print_yaml(const Value& value);

}  // namespace slipway::json
