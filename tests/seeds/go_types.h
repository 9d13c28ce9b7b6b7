// Go types as a seed prints them (tests/seedNNN/types.go), compared with the schema of a CustomResourceDefinition of crds/:
// each field that has a json tag must be there, with the type of JSON that Go would write.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "json/value.h"

namespace slipway::seeds_test {

struct GoField {
  std::string json;
  std::string type;  // without the asterisk of a pointer
  bool may_be_absent = false;
  bool is_inline = false;
};

/// Fields by the type that has them, and texts of constants ("RolloutSucceedState" → "rolloutSucceed").
struct GoFile {
  std::map<std::string, std::vector<GoField>> types;
  std::map<std::string, std::string> constants;
};

/// Reads a file below tests/. Fails the test when it has neither types nor constants.
GoFile read_go(const std::string& file);

/// The only version of a definition in crds/, and its schema.
json::Value crd_version(const std::string& file);
json::Value crd_schema(const std::string& file);

/// What of a type a schema does not have, as "spec.steps{}.dependencies: is array, must be …". Types that the file does not
/// define are objects, but for the scalars of Go and Kubernetes. `untyped` names fields whose schema says no type.
std::vector<std::string> differences(const GoFile& go, const std::string& type, const json::Value& schema,
                                     const std::string& path, const std::set<std::string>& untyped = {});

/// Names of a type's fields whose tag has no omitempty.
std::vector<std::string> required_of(const GoFile& go, const std::string& type);

}  // namespace slipway::seeds_test
