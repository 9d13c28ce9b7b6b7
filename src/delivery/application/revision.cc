#include "delivery/application/revision.h"

#include <fmt/format.h>

#include <charconv>

#include "base/digest.h"
#include "base/gzip.h"
#include "delivery/application/authors.h"
#include "delivery/application/compressed.h"
#include "delivery/application/identity.h"
#include "delivery/application/rollout_plans.h"
#include "delivery/application/taking_over.h"
#include "json/text.h"

namespace slipway::delivery::application {
namespace {

constexpr std::size_t kMaxPacked = 100;
/// Content beyond this is compressed.
constexpr std::size_t kMaxPlainRevision = 4096;
/// Member of a revision's spec: the definitions of the global policies, in the order in which they are applied.
constexpr const char* kGlobalPolicies = "globalPolicyDefinitions";

/// Under which member of a revision's spec definitions of a kind stand, by type.
const char* member_of(DefinitionKind kind) {
  switch (kind) {
    case DefinitionKind::Component:
      return "componentDefinitions";
    case DefinitionKind::Trait:
      return "traitDefinitions";
    case DefinitionKind::Policy:
      return "policyDefinitions";
    case DefinitionKind::WorkflowStep:
      return "workflowStepDefinitions";
  }
  return "";
}

/// A definition without what the server keeps about it.
Value lean(const Value& object) {
  Value metadata = json::object({{"name", object["metadata"]["name"]}, {"namespace", object["metadata"]["namespace"]}});
  metadata = with_author(std::move(metadata), object);
  if (const auto waits = kube::annotation(object, kWaitsForKinds); !waits.empty()) {
    metadata = metadata.with_path({"annotations", kWaitsForKinds}, std::string(waits));
  }
  return json::object(
      {{"apiVersion", object["apiVersion"]}, {"kind", object["kind"]}, {"metadata", metadata}, {"spec", object["spec"]}});
}

Value objects_of(const DefinitionsByType& definitions) {
  json::ObjectBuilder out;
  for (const auto& [type, definition] : definitions) out.set(type, lean(definition->object));
  return out.build();
}

Value shared_objects(const Parsed& parsed) {
  json::ObjectBuilder out;
  for (const auto& [name, policy] : parsed.shared_policies) {
    out.set(name, json::object({{"apiVersion", policy["apiVersion"]},
                                {"kind", policy["kind"]},
                                {"metadata", with_author(json::object({{"name", name}}), policy)},
                                {"type", policy["type"]},
                                {"properties", policy["properties"]}}));
  }
  return out.build();
}

Value shared_workflow(const Parsed& parsed) {
  const Value& workflow = parsed.shared_workflow;
  if (workflow.is_null()) return {};
  return json::object({{"apiVersion", workflow["apiVersion"]},
                       {"kind", workflow["kind"]},
                       {"metadata", with_author(json::object({{"name", workflow["metadata"]["name"]}}), workflow)},
                       {"mode", workflow["mode"]},
                       {"steps", workflow["steps"]}});
}

/// What a revision holds beside the application.
Value rest_of(const Parsed& parsed) {
  const std::pair<DefinitionKind, const DefinitionsByType*> kinds[] = {{DefinitionKind::Component, &parsed.components},
                                                                       {DefinitionKind::Trait, &parsed.traits},
                                                                       {DefinitionKind::Policy, &parsed.policies},
                                                                       {DefinitionKind::WorkflowStep, &parsed.step_types}};
  json::ObjectBuilder rest;
  for (const auto& [kind, definitions] : kinds) {
    if (!definitions->empty()) rest.set(member_of(kind), objects_of(*definitions));
  }
  if (!parsed.global_policies.empty()) {
    json::ArrayBuilder policies;
    for (const DefinitionPtr& policy : parsed.global_policies) policies.add(lean(policy->object));
    rest.set(kGlobalPolicies, policies.build());
  }
  if (!parsed.shared_policies.empty()) rest.set("policies", shared_objects(parsed));
  if (!parsed.shared_workflow.is_null()) rest.set("workflow", shared_workflow(parsed));
  if (!parsed.referred.is_null()) rest.set("referredObjects", parsed.referred);
  return rest.build();
}

/// Tells apart what rest_of() gives, without printing the definitions.
std::string rest_key(const Parsed& parsed) {
  std::string key = json::print(json::array({shared_objects(parsed), shared_workflow(parsed), parsed.referred}));
  const auto add = [&](const std::string& type, const DefinitionPtr& one) {
    key += fmt::format("\n{} {}/{} {} {} {}", type, one->object["apiVersion"].as_string(), kube::ns(one->object), one->digest,
                       kube::annotation(one->object, kWaitsForKinds), kube::annotation(one->object, kUserName));
  };
  for (const DefinitionsByType* all : {&parsed.components, &parsed.traits, &parsed.policies, &parsed.step_types}) {
    for (const auto& [type, definition] : *all) add(type, definition);
  }
  for (const DefinitionPtr& policy : parsed.global_policies) add("global policy", policy);  // no type has a space
  return key;
}

/// The spec of a revision: packed when it would be large.
Value spec_of(const Value& application, const Parsed& parsed, const std::string& name, RevisionPacker& packer) {
  const Value resources = json::object({{"name", name}});
  const Value first = json::object({{"application", application}});
  const RevisionPacker::Rest& rest = packer.rest(rest_key(parsed), [&] { return rest_of(parsed); });
  if (json::print(first).size() + rest.text_bytes > kMaxPlainRevision) {
    const Value compression = json::object({{"type", "gzip"}, {"data", RevisionPacker::join(first, rest)}});
    return json::object({{"compression", compression}, {kResourcesConfigMap, resources}});
  }
  json::ObjectBuilder plain;
  plain.set("application", application);
  for (const auto& [member, value] : rest_of(parsed).members()) plain.set(member, value);
  plain.set(kResourcesConfigMap, resources);
  return plain.build();
}

}  // namespace

const RevisionPacker::Rest& RevisionPacker::rest(const std::string& key, const std::function<Value()>& make) {
  const auto known = known_.find(key);
  if (known != known_.end()) return known->second;
  if (known_.size() >= kMaxPacked) known_.clear();
  const std::string text = json::print(make());
  const bool is_empty = text == "{}";
  return known_.emplace(key, Rest{text.size(), base64_encode(gzip((is_empty ? "" : ",") + text.substr(1)))}).first->second;
}

std::string RevisionPacker::join(const Value& first, const Rest& rest) {
  constexpr std::size_t kBytesOfFourDigits = 3;
  std::string text = json::print(first);
  text.pop_back();
  return base64_encode(gzip_padded(text, kBytesOfFourDigits)) + rest.data;
}

std::string revision_hash(const kube::Object& application, const Value& spec, const Parsed& parsed, bool with_definitions,
                          PlanIn counts) {
  const Value what = counts == PlanIn::Revision ? spec : without_plans(spec);
  std::string text = fmt::format("{}\n{}\n{}\n{}\n", kube::annotation(application, kPublishVersion), json::print(what),
                                 json::print(shared_objects(parsed)), json::print(shared_workflow(parsed)));
  if (with_definitions) {
    for (const DefinitionsByType* all : {&parsed.components, &parsed.traits, &parsed.policies, &parsed.step_types}) {
      for (const auto& [type, definition] : *all) text += type + "=" + definition->digest + "\n";
    }
    for (const DefinitionPtr& policy : parsed.global_policies) text += "global " + policy->digest + "\n";
  }
  return sha256_hex(text).substr(0, 16);
}

std::vector<std::string> known_hashes(const kube::Object& application, const Value& spec, const Parsed& parsed,
                                      bool with_definitions) {
  std::vector<std::string> hashes = {revision_hash(application, spec, parsed, with_definitions)};
  if (!plans_in(spec).is_null()) {
    hashes.push_back(revision_hash(application, spec, parsed, with_definitions, PlanIn::Revision));
  }
  return hashes;
}

bool shares_the_same(const Parsed& one, const Parsed& other) {
  const auto is_same_policy = [](const auto& a, const auto& b) {
    return a.first == b.first && a.second["type"] == b.second["type"] && a.second["properties"] == b.second["properties"];
  };
  const Value& workflow = one.shared_workflow;
  return std::ranges::equal(one.shared_policies, other.shared_policies, is_same_policy) &&
         workflow.is_null() == other.shared_workflow.is_null() && workflow["mode"] == other.shared_workflow["mode"] &&
         is_same_spec(workflow["steps"], other.shared_workflow["steps"]);
}

std::string revision_name(std::string_view application, std::int64_t number) {
  return fmt::format("{}-v{}", application, number);
}

std::int64_t number_of_revision(const Value& revision) {
  const std::string_view name = kube::name(revision);
  const auto at = name.rfind("-v");
  std::int64_t number = 0;
  if (at != std::string_view::npos) std::from_chars(name.data() + at + 2, name.data() + name.size(), number);
  return number;
}

Value make_revision(const kube::Object& application, const Value& spec, const Parsed& parsed, std::int64_t number,
                    const std::string& hash, RevisionPacker& packer) {
  const std::string name(kube::name(application));
  json::ObjectBuilder annotations;
  if (const auto version = kube::annotation(application, kPublishVersion); !version.empty()) {
    annotations.set(kPublishVersion, Value(version));
  }
  const Value kept_annotations = annotations.build();
  // DIVERGES: the OAM rollout marks the ApplicationConfiguration of the new name. Revisions have taken its place.
  const bool is_rolled_out = !spec["rolloutPlan"].is_null();
  Value own_annotations = is_rolled_out ? kept_annotations.with(kRolledOut, "true") : kept_annotations;
  if (has_trait_plans(spec)) own_annotations = own_annotations.with(kPlanFree, "true");
  // Within the spec, which only the process writes (check_revision_writer).
  const Value embedded = with_identity_of(
      kIdentityAnnotations,
      json::object(
          {{"apiVersion", kApiVersion},
           {"kind", kApplicationKind.kind},
           {"metadata",
            json::object({{"name", name}, {"namespace", Value(kube::ns(application))}, {"annotations", kept_annotations}})},
           {"spec", spec}}),
      application);
  return json::object(
      {{"apiVersion", kApiVersion},
       {"kind", kRevisionKind.kind},
       {"metadata", json::object({{"name", revision_name(name, number)},
                                  {"namespace", Value(kube::ns(application))},
                                  {"labels", json::object({{kLabelName, name}, {"app.oam.dev/app-revision-hash", hash}})},
                                  {"annotations", own_annotations},
                                  {"ownerReferences", json::array({kube::owner_reference(application)})}})},
       {"spec", spec_of(embedded, parsed, revision_name(name, number), packer)}});
}

PlanIn plans_in_revision(const Value& revision) {
  return kube::annotation(revision, kPlanFree) == "true" ? PlanIn::None : PlanIn::Revision;
}

Value revision_content(const Value& revision) {
  const Value& spec = revision["spec"];
  return is_compressed(spec) ? uncompressed(spec) : spec;
}

std::shared_ptr<const Frozen> freeze(const Value& spec, const Parsed& parsed) {
  auto made = std::make_shared<Frozen>();
  made->spec = spec;
  if (!parsed.shared_policies.empty()) made->policies = shared_objects(parsed);
  made->workflow = shared_workflow(parsed);
  made->referred = parsed.referred;
  made->global_policies = parsed.global_policies;
  const auto keep = [&](DefinitionKind kind, const DefinitionsByType& all) {
    for (const auto& [type, definition] : all) made->definitions[kind].emplace(type, definition);
  };
  keep(DefinitionKind::Component, parsed.components);
  keep(DefinitionKind::Trait, parsed.traits);
  keep(DefinitionKind::Policy, parsed.policies);
  keep(DefinitionKind::WorkflowStep, parsed.step_types);
  return made;
}

std::shared_ptr<const Frozen> read_revision(const Value& revision, DefinitionStore& store) {
  const Value content = revision_content(revision);
  auto made = std::make_shared<Frozen>();
  made->spec = content["application"]["spec"];
  made->policies = content["policies"];
  made->workflow = content["workflow"];
  made->referred = content["referredObjects"];
  for (const DefinitionKind kind :
       {DefinitionKind::Component, DefinitionKind::Trait, DefinitionKind::Policy, DefinitionKind::WorkflowStep}) {
    for (const auto& [type, object] : content[member_of(kind)].members()) {
      // Objects that went through Go's types may have lost their kind.
      const Value whole = object.has("kind") ? object : object.with("kind", std::string(kind_of(kind)));
      if (!object.is_null()) made->definitions[kind].emplace(type, store.read(whole));
    }
  }
  for (const Value& object : content[kGlobalPolicies].items()) {
    if (auto read = store.read(object)) made->global_policies.push_back(*std::move(read));
  }
  return made;
}

Lookup lookup_in(std::shared_ptr<const Frozen> frozen, Lookup otherwise) {
  Lookup lookup;
  lookup.referred = frozen->referred;
  lookup.definition = [frozen, otherwise](DefinitionKind kind, const std::string& type) -> Result<DefinitionPtr> {
    if (const auto all = frozen->definitions.find(kind); all != frozen->definitions.end()) {
      if (const auto held = all->second.find(type); held != all->second.end()) return held->second;
    }
    return otherwise.definition(kind, type);
  };
  lookup.policy = [frozen, otherwise](const std::string& name) {
    const Value& held = frozen->policies[name];
    return held.is_null() ? otherwise.policy(name) : held;
  };
  lookup.workflow = [frozen, otherwise](const std::string& name) {
    return kube::name(frozen->workflow) == name ? frozen->workflow : otherwise.workflow(name);
  };
  lookup.global_policies = [frozen] { return frozen->global_policies; };
  return lookup;
}

}  // namespace slipway::delivery::application
