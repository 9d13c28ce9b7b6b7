// Job (batch/v1): defaults, the generated selector, validation, what may change later.
#include <fmt/format.h>

#include <array>

#include "base/count.h"
#include "kube/selector.h"
#include "server/builtin/defaults.h"
#include "server/builtin/pod_template.h"
#include "server/builtin/strategy.h"

namespace slipway::server {

namespace job_rules {
namespace {

using json::Value;
using kube::Object;

constexpr std::int64_t kDefaultBackoffLimit = 6;
constexpr std::string_view kControllerUid = "batch.kubernetes.io/controller-uid";
constexpr std::string_view kJobName = "batch.kubernetes.io/job-name";
constexpr std::string_view kLegacyControllerUid = "controller-uid";
constexpr std::string_view kLegacyJobName = "job-name";
constexpr const char* kImmutable = "field is immutable";

Value with_spec_defaults(const Value& spec) {
  json::ObjectBuilder next(spec);
  if (!spec.has("completions") && !spec.has("parallelism")) next.set("completions", 1);
  if (!spec.has("parallelism")) next.set("parallelism", 1);
  if (!spec.has("backoffLimit")) next.set("backoffLimit", spec.has("backoffLimitPerIndex") ? INT32_MAX : kDefaultBackoffLimit);
  if (!spec.has("podReplacementPolicy")) {
    next.set("podReplacementPolicy", spec.has("podFailurePolicy") ? "Failed" : "TerminatingOrFailed");
  }
  if (!spec.has("manualSelector")) next.set("manualSelector", false);
  if (!spec.has("completionMode")) next.set("completionMode", "NonIndexed");
  if (!spec.has("suspend")) next.set("suspend", false);
  if (const Value pod = with_pod_defaults(spec["template"]["spec"]); !pod.is_same(spec["template"]["spec"])) {
    next.set("template", spec["template"].with("spec", pod));
  }
  return next.build();
}

Object fill_defaults(const Object& object) {
  static constexpr std::array kKeys{"parallelism",    "backoffLimit",   "podReplacementPolicy",
                                    "manualSelector", "completionMode", "suspend"};
  const Value& spec = object["spec"];
  const bool is_complete = std::ranges::all_of(kKeys, [&](const char* key) { return spec.has(key); }) &&
                           with_pod_defaults(spec["template"]["spec"]).is_same(spec["template"]["spec"]);
  Object next = is_complete ? object : object.with("spec", with_spec_defaults(spec));
  const Value& labels = spec["template"]["metadata"]["labels"];
  if (labels.empty() || !object["metadata"]["labels"].empty()) return next;
  return next.with_path({"metadata", "labels"}, labels);
}

Object prepare_create(const Object& given, const Surroundings&) {
  const Object object = given.with("status", Value::empty_object());
  if (object["spec"]["manualSelector"].as_bool()) return object;
  json::ObjectBuilder labels(object["spec"]["template"]["metadata"]["labels"]);
  const auto add = [&](std::string_view key, std::string_view value) {
    if (!object["spec"]["template"]["metadata"]["labels"].has(key)) labels.add(key, value);
  };
  add(kControllerUid, kube::uid(object));
  add(kLegacyControllerUid, kube::uid(object));
  add(kJobName, kube::name(object));
  add(kLegacyJobName, kube::name(object));
  const Value labelled = labels.build();
  Value spec = object["spec"].with_path({"template", "metadata", "labels"}, labelled);
  if (!spec["selector"]["matchLabels"].has(kControllerUid)) {
    spec = spec.with_path({"selector", "matchLabels", kControllerUid}, kube::uid(object));
  }
  const Object next = object.with("spec", std::move(spec));
  // Labels that are those of the template (as they are by default) stay those of the template.
  const Value& own = object["metadata"]["labels"];
  const bool follows = own.empty() || own == object["spec"]["template"]["metadata"]["labels"];
  return follows ? next.with_path({"metadata", "labels"}, labelled) : next;
}

constexpr std::int64_t kMaxIndexedParallelism = 100'000;

void counts_causes(const Value& spec, std::vector<Cause>& causes) {
  for (const char* key : {"parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished",
                          "backoffLimitPerIndex", "maxFailedIndexes"}) {
    if (spec[key].as_int() < 0) {
      causes.push_back(field::invalid(fmt::format("spec.{}", key), quoted(spec[key]), "must be greater than or equal to 0"));
    }
  }
  const Value& mode = spec["completionMode"];
  if (mode.as_string() != "Indexed" && mode.as_string() != "NonIndexed") {
    causes.push_back(field::not_supported("spec.completionMode", quoted(mode), {"Indexed", "NonIndexed"}));
  }
  if (mode.as_string() != "Indexed") {
    for (const char* key : {"backoffLimitPerIndex", "maxFailedIndexes"}) {
      if (spec.has(key)) {
        causes.push_back(field::invalid(fmt::format("spec.{}", key), quoted(spec[key]), "requires indexed completion mode"));
      }
    }
    return;
  }
  if (!spec.has("completions")) causes.push_back(field::required("spec.completions", "when completion mode is Indexed"));
  if (spec["parallelism"].as_int() > kMaxIndexedParallelism) {
    causes.push_back(field::invalid(
        "spec.parallelism", quoted(spec["parallelism"]),
        fmt::format("must be less than or equal to {} when completion mode is Indexed", kMaxIndexedParallelism)));
  }
}

/// Rules of podFailurePolicy, backoffLimitPerIndex and successPolicy beyond the types of their fields.
void policy_causes(const Value& spec, std::vector<Cause>& causes) {
  const bool has_policy = spec.has("podFailurePolicy");
  if (has_policy && spec["podReplacementPolicy"].as_string() != "Failed") {
    causes.push_back(field::not_supported("spec.podReplacementPolicy", quoted(spec["podReplacementPolicy"]), {"Failed"}));
  }
  std::size_t at = 0;
  for (const Value& rule : spec["podFailurePolicy"]["rules"].items()) {
    const std::string path = fmt::format("spec.podFailurePolicy.rules[{}]", at++);
    if (rule["action"].as_string() == "FailIndex" && !spec.has("backoffLimitPerIndex")) {
      causes.push_back(field::invalid(path + ".action", quoted(rule["action"]), "requires the backoffLimitPerIndex to be set"));
    }
    const Value& codes = rule["onExitCodes"];
    for (std::size_t i = 0; codes["operator"].as_string() == "In" && i < codes["values"].size(); ++i) {
      if (codes["values"].item(i).as_int() != 0) continue;
      causes.push_back(
          field::invalid(fmt::format("{}.onExitCodes.values[{}]", path, i), "0", "must not be 0 for the In operator"));
    }
  }
  if (spec.has("maxFailedIndexes") && spec["completionMode"].as_string() == "Indexed") {
    if (!spec.has("backoffLimitPerIndex")) {
      causes.push_back(field::required("spec.backoffLimitPerIndex", "when maxFailedIndexes is specified"));
    }
    if (spec["maxFailedIndexes"].as_int() > spec["completions"].as_int()) {
      causes.push_back(field::invalid("spec.maxFailedIndexes", quoted(spec["maxFailedIndexes"]),
                                      "must be less than or equal to completions"));
    }
  }
  if (const Value& by = spec["managedBy"]; !by.is_null() && !by.as_string().contains('/')) {
    causes.push_back(field::invalid("spec.managedBy", quoted(by), "must be a domain-prefixed path (such as \"acme.io/foo\")"));
  }
}

/// Whether `text`, as "0,2-4", names an index that is not below `limit`.
std::optional<std::string> too_large_index(std::string_view text, std::int64_t limit) {
  while (!text.empty()) {
    const std::size_t end = text.find_first_of(",-");
    const std::string number(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (!number.empty() && leading_count(number) >= limit) return number;
  }
  return std::nullopt;
}

void success_policy_causes(const Value& spec, std::vector<Cause>& causes) {
  if (!spec.has("successPolicy")) return;
  if (spec["completionMode"].as_string() != "Indexed") {
    causes.push_back(field::invalid("spec.successPolicy", quoted(spec["successPolicy"]), "requires indexed completion mode"));
    return;
  }
  const std::int64_t completions = spec["completions"].as_int();
  std::size_t at = 0;
  for (const Value& rule : spec["successPolicy"]["rules"].items()) {
    const std::string path = fmt::format("spec.successPolicy.rules[{}]", at++);
    if (rule["succeededCount"].as_int() > completions) {
      causes.push_back(
          field::invalid(path + ".succeededCount", quoted(rule["succeededCount"]),
                         fmt::format("must be less than or equal to {} (the number of specified completions)", completions)));
    }
    if (const auto large = too_large_index(rule["succeededIndexes"].as_string(), completions)) {
      causes.push_back(field::invalid(path + ".succeededIndexes", quoted(rule["succeededIndexes"]),
                                      fmt::format("error parsing succeededIndexes: too large index: \"{}\"", *large)));
    }
  }
}

void selector_causes(const Value& spec, std::vector<Cause>& causes) {
  if (spec["selector"].is_null()) {
    causes.push_back(field::required("spec.selector"));
    return;
  }
  const Value& labels = spec["template"]["metadata"]["labels"];
  const auto selector = kube::LabelSelector::from_object(spec["selector"]);
  if (!selector) {
    causes.push_back(field::invalid("spec.selector", quoted(spec["selector"]), selector.error().message));
  } else if (!selector->matches(labels)) {
    causes.push_back(
        field::invalid("spec.template.metadata.labels", quoted(labels), "`selector` does not match template `labels`"));
  }
}

void generated_selector_causes(const Object& object, std::vector<Cause>& causes) {
  const Value& spec = object["spec"];
  if (spec["selector"].is_null() || spec["manualSelector"].as_bool()) return;
  const Value& labels = spec["template"]["metadata"]["labels"];
  const auto check = [&](std::string_view key, std::string_view value) {
    if (labels[key].as_string() == value) return;
    causes.push_back(field::invalid(fmt::format("spec.template.metadata.labels[{}]", key), quoted(labels[key]),
                                    fmt::format("must be '{}'", value)));
  };
  check(kLegacyControllerUid, kube::uid(object));
  check(kLegacyJobName, kube::name(object));
  check(kControllerUid, kube::uid(object));
  check(kJobName, kube::name(object));
  const Value& chosen = spec["selector"]["matchLabels"];
  if (chosen.size() != 1 || chosen[kControllerUid].as_string() != kube::uid(object)) {
    causes.push_back(field::invalid("spec.selector", quoted(spec["selector"]), "`selector` not auto-generated"));
  }
}

void template_causes(const Value& spec, std::vector<Cause>& causes) {
  const Value& restart = spec["template"]["spec"]["restartPolicy"];
  pod_template_causes(spec["template"], "spec.template", Value(), causes);
  if (restart.as_string() == "Always") {
    causes.push_back(field::required("spec.template.spec.restartPolicy", "valid values: \"OnFailure\", \"Never\""));
  } else if (restart.as_string() == "OnFailure" && spec.has("podFailurePolicy")) {
    causes.push_back(field::invalid("spec.template.spec.restartPolicy", quoted(restart),
                                    "only \"Never\" is supported when podFailurePolicy is specified"));
  }
}

/// A template without what may change while the Job is suspended and has not started.
Value fixed_template(const Value& pod_template) {
  Value fixed = pod_template.without_path({"metadata", "labels"}).without_path({"metadata", "annotations"});
  for (const char* key : {"nodeSelector", "tolerations", "affinity", "schedulingGates"})
    fixed = fixed.without_path({"spec", key});
  return fixed;
}

void update_causes(const Object& object, const Object& old, std::vector<Cause>& causes) {
  const Value& spec = object["spec"];
  const Value& before = old["spec"];
  const bool is_elastic = spec["completionMode"].as_string() == "Indexed" && spec["completions"] == spec["parallelism"];
  for (const char* key : {"completions", "selector", "completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy",
                          "podReplacementPolicy", "successPolicy"}) {
    if (spec[key] == before[key] || (key == std::string_view("completions") && is_elastic)) continue;
    causes.push_back(field::invalid(fmt::format("spec.{}", key), quoted(spec[key]), kImmutable));
  }
  if (spec["template"] == before["template"]) return;
  const bool may_reschedule = before["suspend"].as_bool() && !old["status"].has("startTime");
  if (may_reschedule && fixed_template(spec["template"]) == fixed_template(before["template"])) return;
  causes.push_back(field::invalid("spec.template", quoted(spec["template"]), kImmutable));
}

void spec_causes(const Value& spec, std::vector<Cause>& causes) {
  counts_causes(spec, causes);
  policy_causes(spec, causes);
  success_policy_causes(spec, causes);
  selector_causes(spec, causes);
}

void validate(const Object& object, const Object& old, std::vector<Cause>& causes) {
  const Value& spec = object["spec"];
  if (spec.is_same(old["spec"])) return;
  generated_selector_causes(object, causes);
  spec_causes(spec, causes);
  if (old.is_null()) {
    template_causes(spec, causes);
  } else {
    spec_causes(spec, causes);  // told twice, as upstream does: once for the Job as it is, once beside the old one
    update_causes(object, old, causes);
  }
}

}  // namespace
}  // namespace job_rules

std::span<const Strategy> job_strategies() {
  static constexpr std::array kRows{Strategy{.group = "batch",
                                             .kind = "Job",
                                             .orphans_by_default = true,
                                             .fill_defaults = job_rules::fill_defaults,
                                             .prepare_create = job_rules::prepare_create,
                                             .validate = job_rules::validate}};
  return kRows;
}

}  // namespace slipway::server
