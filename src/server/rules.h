// The validation rules of custom resources (x-kubernetes-validations, CEL): compiled when a definition is judged or, after a
// restart, when the first object is, run as the last step of validation (KEP-2876). The work is done in cel/rules.h.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "json/value.h"
#include "kube/schema.h"

namespace slipway::server {

/// The compiled rules of one schema. Immutable.
class Rules;
using RulesPtr = std::shared_ptr<const Rules>;

/// Compiles every rule of `open_api`, whose compiled form is `schema` and whose place in the definition is `path`. What does
/// not compile, costs too much or may not stand where it stands becomes a cause. nullptr when there are no rules.
RulesPtr compile_rules(const kube::Schema& schema, const json::Value& open_api, const std::string& path,
                       std::vector<Cause>& causes);

/// The rules of a schema that was judged when it was written: compiled when the first object is validated, from any thread.
/// Those that do not compile are left out. Never nullptr.
RulesPtr deferred_rules(json::Value open_api);

/// Adds a cause for every rule that `object` breaks. `old` is null for a create; transition rules then do not run. When
/// `causes` holds faults of type, presence or size already, the rules are not run and one cause says so, as upstream.
void validate_rules(const Rules& rules, const json::Value& object, const json::Value& old, std::vector<Cause>& causes);

}  // namespace slipway::server
