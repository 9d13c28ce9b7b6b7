#include "server/builtin/pod_placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "kube/names.h"
#include "server/builtin/defaults.h"

namespace slipway::server {

namespace {

using json::Value;

constexpr std::int64_t kMaxWeight = 100;

std::string at_item(const std::string& path, std::size_t index) { return fmt::format("{}[{}]", path, index); }

/// The text of a member that may be missing.
Value text_of(const Value& owner, const char* key) { return owner[key].is_null() ? Value("") : owner[key]; }

void label_name_causes(const Value& owner, const std::string& path, const char* key, std::vector<Cause>& causes) {
  const Value name = text_of(owner, key);
  add_faults(kube::qualified_name_faults(name.as_string()), path + "." + key, name, causes);
}

enum class Comparisons { None, GtAndLt };

/// A requirement of a selector of labels or, with comparisons, of nodes.
void requirement_causes(const Value& one, const std::string& path, Comparisons comparisons, std::vector<Cause>& causes) {
  const std::string_view op = one["operator"].as_string();
  const Value& values = one["values"];
  if (op == "In" || op == "NotIn") {
    if (values.empty())
      causes.push_back(field::required(path + ".values", "must be specified when `operator` is 'In' or 'NotIn'"));
  } else if (op == "Exists" || op == "DoesNotExist") {
    if (!values.empty()) {
      causes.push_back(
          field::forbidden(path + ".values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
    }
  } else if (comparisons == Comparisons::GtAndLt && (op == "Gt" || op == "Lt")) {
    if (values.size() != 1) {
      causes.push_back(field::required(path + ".values", "must be specified single value when `operator` is 'Lt' or 'Gt'"));
    }
  } else {
    causes.push_back(field::invalid(path + ".operator", quoted(text_of(one, "operator")), "not a valid selector operator"));
  }
  label_name_causes(one, path, "key", causes);
  for (std::size_t i = 0; i < values.size(); ++i) {
    add_faults(kube::label_value_faults(values.item(i).as_string()), at_item(path + ".values", i), values.item(i), causes);
  }
}

void label_selector_causes(const Value& selector, const std::string& path, std::vector<Cause>& causes) {
  for (Cause& cause : kube::label_causes(selector["matchLabels"], path + ".matchLabels")) causes.push_back(std::move(cause));
  const Value& expressions = selector["matchExpressions"];
  for (std::size_t i = 0; i < expressions.size(); ++i) {
    requirement_causes(expressions.item(i), at_item(path + ".matchExpressions", i), Comparisons::None, causes);
  }
}

// Affinity.

void weight_causes(const Value& term, const std::string& path, std::vector<Cause>& causes) {
  const std::int64_t weight = term["weight"].as_int();
  if (weight >= 1 && weight <= kMaxWeight) return;
  causes.push_back(field::invalid(path + ".weight", std::to_string(weight), "must be in the range 1-100"));
}

void node_field_causes(const Value& one, const std::string& path, std::vector<Cause>& causes) {
  const std::string_view op = one["operator"].as_string();
  if (op != "In" && op != "NotIn") {
    causes.push_back(field::invalid(path + ".operator", quoted(text_of(one, "operator")), "not a valid selector operator"));
  } else if (one["values"].size() != 1) {
    causes.push_back(
        field::required(path + ".values", "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"));
  }
  if (one["key"].as_string() != "metadata.name") {
    causes.push_back(field::invalid(path + ".key", quoted(text_of(one, "key")), "not a valid field selector key"));
  }
}

void node_term_causes(const Value& term, const std::string& path, std::vector<Cause>& causes) {
  const Value& expressions = term["matchExpressions"];
  for (std::size_t i = 0; i < expressions.size(); ++i) {
    requirement_causes(expressions.item(i), at_item(path + ".matchExpressions", i), Comparisons::GtAndLt, causes);
  }
  const Value& fields = term["matchFields"];
  for (std::size_t i = 0; i < fields.size(); ++i) {
    node_field_causes(fields.item(i), at_item(path + ".matchFields", i), causes);
  }
}

constexpr const char* kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr const char* kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";

void node_affinity_causes(const Value& affinity, const std::string& path, std::vector<Cause>& causes) {
  if (const Value& required = affinity[kRequired]; !required.is_null()) {
    const std::string at = fmt::format("{}.{}.nodeSelectorTerms", path, kRequired);
    const Value& terms = required["nodeSelectorTerms"];
    if (terms.empty()) causes.push_back(field::required(at, "must have at least one node selector term"));
    for (std::size_t i = 0; i < terms.size(); ++i) node_term_causes(terms.item(i), at_item(at, i), causes);
  }
  const Value& preferred = affinity[kPreferred];
  for (std::size_t i = 0; i < preferred.size(); ++i) {
    const std::string at = at_item(path + "." + kPreferred, i);
    weight_causes(preferred.item(i), at, causes);
    node_term_causes(preferred.item(i)["preference"], at + ".preference", causes);
  }
}

void pod_term_causes(const Value& term, const std::string& path, std::vector<Cause>& causes) {
  label_selector_causes(term["labelSelector"], path + ".labelSelector", causes);
  label_selector_causes(term["namespaceSelector"], path + ".namespaceSelector", causes);
  const Value& namespaces = term["namespaces"];
  for (std::size_t i = 0; i < namespaces.size(); ++i) {
    add_faults(kube::dns1123_label_faults(namespaces.item(i).as_string()), path + ".namespace", namespaces.item(i), causes);
  }
  if (term["topologyKey"].as_string().empty()) {
    causes.push_back(field::required(path + ".topologyKey", "can not be empty"));
  }
  label_name_causes(term, path, "topologyKey", causes);
}

void pod_affinity_causes(const Value& affinity, const std::string& path, std::vector<Cause>& causes) {
  const Value& required = affinity[kRequired];
  for (std::size_t i = 0; i < required.size(); ++i) {
    pod_term_causes(required.item(i), at_item(path + "." + kRequired, i), causes);
  }
  const Value& preferred = affinity[kPreferred];
  for (std::size_t i = 0; i < preferred.size(); ++i) {
    const std::string at = at_item(path + "." + kPreferred, i);
    weight_causes(preferred.item(i), at, causes);
    pod_term_causes(preferred.item(i)["podAffinityTerm"], at + ".podAffinityTerm", causes);
  }
}

// Spread.

/// A number that must be greater than zero.
void positive_causes(const Value& number, const std::string& path, std::vector<Cause>& causes) {
  if (number.as_int() > 0) return;
  causes.push_back(field::invalid(path, std::to_string(number.as_int()), "must be greater than zero"));
}

bool is_same_kind_of_spread(const Value& left, const Value& right) {
  return left["topologyKey"].as_string() == right["topologyKey"].as_string() &&
         left["whenUnsatisfiable"].as_string() == right["whenUnsatisfiable"].as_string();
}

void match_label_key_causes(const Value& constraint, const std::string& path, std::vector<Cause>& causes) {
  const Value& keys = constraint["matchLabelKeys"];
  const Value& selector = constraint["labelSelector"];
  if (!keys.empty() && selector.is_null()) {
    causes.push_back(field::forbidden(path, "must not be specified when labelSelector is not set"));
    return;
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Value& key = keys.item(i);
    add_faults(kube::qualified_name_faults(key.as_string()), at_item(path, i), key, causes);
    const bool is_selected =
        selector["matchLabels"].has(key.as_string()) ||
        std::ranges::any_of(selector["matchExpressions"].items(), [&](const Value& one) { return one["key"] == key; });
    if (!is_selected) continue;
    causes.push_back(field::invalid(at_item(path, i), quoted(key), "exists in both matchLabelKeys and labelSelector"));
  }
}

void spread_causes(const Value& constraint, const std::string& path, std::span<const Value> rest, std::vector<Cause>& causes) {
  static const std::vector<std::string> kActions{"DoNotSchedule", "ScheduleAnyway"};
  static const std::vector<std::string> kPolicies{"Honor", "Ignore"};
  const Value action = text_of(constraint, "whenUnsatisfiable");
  positive_causes(constraint["maxSkew"], path + ".maxSkew", causes);
  if (constraint["topologyKey"].as_string().empty()) {
    causes.push_back(field::required(path + ".topologyKey", "can not be empty"));
  }
  if (std::ranges::find(kActions, action.as_string()) == kActions.end()) {
    causes.push_back(field::not_supported(path + ".whenUnsatisfiable", quoted(action), kActions));
  }
  if (std::ranges::any_of(rest, [&](const Value& other) { return is_same_kind_of_spread(constraint, other); })) {
    const std::string pair = fmt::format("{{{}, {}}}", constraint["topologyKey"].as_string(), action.as_string());
    causes.push_back(field::duplicate(path + ".{topologyKey, whenUnsatisfiable}", quoted(Value(pair))));
  }
  if (const Value& domains = constraint["minDomains"]; !domains.is_null()) {
    positive_causes(domains, path + ".minDomains", causes);
    if (action.as_string() != "DoNotSchedule") {
      causes.push_back(field::invalid(
          path + ".minDomains", quoted(domains),
          fmt::format("can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {}", action.as_string())));
    }
  }
  for (const char* key : {"nodeAffinityPolicy", "nodeTaintsPolicy"}) {
    const Value& policy = constraint[key];
    if (policy.is_null() || std::ranges::find(kPolicies, policy.as_string()) != kPolicies.end()) continue;
    causes.push_back(field::not_supported(path + "." + key, quoted(policy), kPolicies));
  }
  match_label_key_causes(constraint, path + ".matchLabelKeys", causes);
  label_selector_causes(constraint["labelSelector"], path + ".labelSelector", causes);
}

void toleration_causes(const Value& tolerations, const std::string& path, std::vector<Cause>& causes) {
  for (std::size_t i = 0; i < tolerations.size(); ++i) {
    const Value& one = tolerations.item(i);
    const std::string at = fmt::format("{}[{}]", path, i);
    const std::string_view op = one["operator"].as_string();
    if (!one["key"].as_string().empty())
      add_faults(kube::qualified_name_faults(one["key"].as_string()), at + ".key", one["key"], causes);
    if (one["key"].as_string().empty() && op != "Exists") {
      causes.push_back(
          field::invalid(at + ".operator", quoted(one["operator"].is_null() ? Value("") : one["operator"]),
                         "operator must be Exists when `key` is empty, which means \"match all values and all keys\""));
    }
    if (one.has("tolerationSeconds") && one["effect"].as_string() != "NoExecute") {
      causes.push_back(field::invalid(at + ".effect", quoted(one["effect"].is_null() ? Value("") : one["effect"]),
                                      "effect must be 'NoExecute' when `tolerationSeconds` is set"));
    }
    if (op == "Exists" && !one["value"].as_string().empty()) {
      causes.push_back(
          field::invalid(at + ".operator", quoted(one["value"]), "value must be empty when `operator` is 'Exists'"));
    }
  }
}

}  // namespace

void placement_causes(const Value& spec, const std::string& path, std::vector<Cause>& causes) {
  if (const Value& affinity = spec["affinity"]; !affinity.is_null()) {
    node_affinity_causes(affinity["nodeAffinity"], path + ".affinity.nodeAffinity", causes);
    pod_affinity_causes(affinity["podAffinity"], path + ".affinity.podAffinity", causes);
    pod_affinity_causes(affinity["podAntiAffinity"], path + ".affinity.podAntiAffinity", causes);
  }
  toleration_causes(spec["tolerations"], path + ".tolerations", causes);
  const std::span<const Value> constraints = spec["topologySpreadConstraints"].items();
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    spread_causes(constraints[i], at_item(path + ".topologySpreadConstraints", i), constraints.subspan(i + 1), causes);
  }
}

}  // namespace slipway::server
