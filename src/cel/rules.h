// The validation rules of a structural schema (x-kubernetes-validations, KEP-2876): judged and compiled with the schema, run
// over an object and the one it replaces. Worded as k8s.io/apiextensions-apiserver (pkg/apiserver/schema/cel).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "cel/program.h"
#include "json/value.h"

namespace slipway::cel {

/// Cost units of one rule, and of all rules over one object.
inline constexpr std::uint64_t kCallCost = 1'000'000;
inline constexpr std::uint64_t kObjectCost = 10'000'000;

/// What a rule, and all rules of a schema, may cost at the most over one object, as estimated from the schema.
inline constexpr std::uint64_t kMaxRuleEstimate = 10'000'000;
inline constexpr std::uint64_t kMaxSchemaEstimate = 100'000'000;

struct Rule {
  std::shared_ptr<const Program> program;
  std::shared_ptr<const Program> message_program;  // of messageExpression; may be null
  std::string rule;
  std::string message;
  std::string reason;
  std::string field;  // what fieldPath adds to the path, with its dot or bracket
  bool uses_old = false;
  bool has_optional_old = false;
};

/// The rules at one place of a schema and below it.
struct RuleNode {
  std::string type_name;
  TypePtr type;
  std::vector<Rule> rules;
  std::map<std::string, std::unique_ptr<RuleNode>, std::less<>> properties;
  std::unique_ptr<RuleNode> items;       // of an array
  std::unique_ptr<RuleNode> additional;  // of a map
  bool is_keyed = false;                 // items are told apart by `keys`
  std::vector<std::string> keys;
};

class SchemaRules {
 public:
  /// Compiles all rules of `schema`, whose place is `path`; what is wrong with them becomes causes. nullptr when there are no
  /// rules. A resource has apiVersion, kind and metadata, declared or not.
  /// With Costs::Estimated a rule that could cost too much, by the limits that the schema sets on lists, maps and texts, is a
  /// cause, and so are the dearest rules when all together could. DIVERGES: upstream lets a definition keep dear rules that it
  /// had; here a version that is changed is judged as a whole.
  enum class Costs : std::uint8_t { Counted, Estimated };
  static std::shared_ptr<const SchemaRules> compile(const json::Value& schema, const std::string& path,
                                                    std::vector<Cause>& causes, bool is_resource = true,
                                                    Costs costs = Costs::Counted);
  explicit SchemaRules(std::unique_ptr<RuleNode> root) : root_(std::move(root)) {}

  /// Adds a cause for each rule that `object` breaks. `old` is null for a create: rules about oldSelf then do not run, unless
  /// theirs is optional. What did not change is tolerated, save by rules about oldSelf (ratcheting, KEP-4008).
  void validate(const json::Value& object, const json::Value& old, std::vector<Cause>& causes) const;

 private:
  std::unique_ptr<RuleNode> root_;
};

}  // namespace slipway::cel
