#include "delivery/application/definition_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "base/digest.h"
#include "delivery/application/authors.h"
#include "json/text.h"

namespace slipway::delivery::application {
namespace {

constexpr std::size_t kMaxKept = 4'000;
constexpr const char* kGlobal = "global";

struct DefinitionRow {
  DefinitionKind kind;
  const kube::Resource* resource;
};
const DefinitionRow kKindRows[] = {{DefinitionKind::Component, &kComponentDefinitions},
                                   {DefinitionKind::Trait, &kTraitDefinitions},
                                   {DefinitionKind::Policy, &kPolicyDefinitions},
                                   {DefinitionKind::WorkflowStep, &kStepDefinitions}};

/// The definition inside a DefinitionRevision.
const Value& embedded(const Value& revision) {
  for (const char* member : {"componentDefinition", "traitDefinition", "policyDefinition", "workflowStepDefinition"}) {
    const Value& found = revision["spec"][member];
    if (found.is_object() && found["spec"].is_object() && !found["spec"].empty()) return found;
  }
  return revision["spec"]["none"];
}

/// The same, as written by whoever wrote the revision by hand.
Value in_revision(const Value& revision) {
  const Value& definition = embedded(revision);
  return definition.is_null() ? definition : definition.with("metadata", with_author(definition["metadata"], revision));
}

/// How many single characters differ at least; more than two counts as far.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

/// Those of `shared` first; each namespace's by priority and name, without those that another namespace has again.
std::vector<Value> in_order(std::vector<Value> definitions, const std::string& shared) {
  std::set<std::string_view> own;
  for (const Value& one : definitions) {
    if (kube::ns(one) != shared) own.insert(kube::name(one));
  }
  std::erase_if(definitions, [&](const Value& one) { return kube::ns(one) == shared && own.contains(kube::name(one)); });
  std::ranges::sort(definitions, {}, [&](const Value& one) {
    return std::tuple(kube::ns(one) != shared, one["spec"]["priority"].as_int(), kube::name(one));
  });
  return definitions;
}

using BuiltIn = std::map<DefinitionKind, std::map<std::string, Value>>;

const BuiltIn& built_in() {
  static const BuiltIn all = [] {
    BuiltIn made;
    for (const Value& object : builtin_definitions()) {
      for (const DefinitionRow& row : kKindRows) {
        if (kube::kind(object) == kind_of(row.kind)) made[row.kind][std::string(kube::name(object))] = object;
      }
    }
    return made;
  }();
  return all;
}

}  // namespace

bool is_global_policy(const Value& definition) {
  return definition["spec"]["global"].as_bool() && definition["spec"]["scope"].as_string() == "Application";
}

const kube::Resource& resource_of(DefinitionKind kind) {
  return *std::ranges::find(kKindRows, kind, &DefinitionRow::kind)->resource;
}

std::vector<std::string> DefinitionStore::namespaces(const std::string& ns) const {
  std::vector<std::string> places = {ns};
  for (const std::string& place : {shared_, std::string(kDefinitionNamespace)}) {
    if (std::ranges::find(places, place) == places.end()) places.push_back(place);
  }
  return places;
}

bool DefinitionStore::is_for_all(std::string_view ns) const { return ns == shared_ || ns == kDefinitionNamespace; }

void DefinitionStore::watch(control::Watches& watches) {
  for (const DefinitionRow& row : kKindRows) informers_[row.kind] = &watches.cache(*row.resource);
  informers_[DefinitionKind::Policy]->add_index(kGlobal, [](const Value& definition) -> std::vector<std::string> {
    if (!is_global_policy(definition)) return {};
    return {std::string(kube::ns(definition))};
  });
  revisions_ = &watches.cache(kDefinitionRevisions);
}

Value DefinitionStore::find_object(DefinitionKind kind, const std::string& ns, const std::string& type) const {
  const auto cached = informers_.find(kind);
  return look_up(kind, ns, type, [&](const kube::Resource& resource, std::string_view place, std::string_view name) {
    const control::Informer* from = resource == kDefinitionRevisions ? revisions_ : nullptr;
    if (from == nullptr && cached != informers_.end() && resource != kDefinitionRevisions) from = cached->second;
    return from == nullptr ? Value() : from->get({std::string(place), std::string(name)});
  });
}

std::vector<DefinitionPtr> DefinitionStore::global_policies(const std::string& ns) {
  const auto policies = informers_.find(DefinitionKind::Policy);
  if (policies == informers_.end()) return {};
  std::vector<Value> objects = policies->second->index(kGlobal, shared_);
  if (ns != shared_) std::ranges::move(policies->second->index(kGlobal, ns), std::back_inserter(objects));
  return read_policies(std::move(objects));
}

std::vector<DefinitionPtr> DefinitionStore::read_policies(std::vector<Value> objects) {
  std::vector<DefinitionPtr> all;
  for (const Value& object : in_order(std::move(objects), shared_)) {
    if (auto definition = read_once(object)) all.push_back(*std::move(definition));
  }
  return all;
}

Value DefinitionStore::look_up(DefinitionKind kind, const std::string& ns, const std::string& type,
                               const kube::FindObject& cluster) const {
  const auto at = type.find('@');
  const std::string name = type.substr(0, at);
  const bool is_pinned = at != std::string::npos;
  const kube::Resource& resource = resource_of(kind);
  for (const std::string& place : namespaces(ns)) {
    const Value found =
        is_pinned ? cluster(kDefinitionRevisions, place, name + "-" + type.substr(at + 1)) : cluster(resource, place, name);
    if (!found.is_null()) return is_pinned ? in_revision(found) : found;
  }
  if (is_pinned && type.substr(at + 1) != "v1") return {};
  const auto rows_at = built_in().find(kind);
  if (rows_at == built_in().end()) return {};
  const auto found = rows_at->second.find(name);
  return found == rows_at->second.end() ? Value() : found->second;
}

Result<DefinitionPtr> DefinitionStore::find(DefinitionKind kind, const std::string& ns, const std::string& type) {
  return read_found(kind, ns, type, find_object(kind, ns, type));
}

Result<DefinitionPtr> DefinitionStore::find(DefinitionKind kind, const std::string& ns, const std::string& type,
                                            const kube::FindObject& cluster) {
  return read_found(kind, ns, type, look_up(kind, ns, type, cluster));
}

Result<DefinitionPtr> DefinitionStore::read_found(DefinitionKind kind, const std::string& ns, const std::string& type,
                                                  const Value& object) {
  // What a DefinitionRevision embeds has no version of its own.
  if (!object.is_null()) return type.contains('@') ? read(object) : read_once(object);
  return fail(Reason::NotFound,
              fmt::format("{}.{} \"{}\" not found{}", kind_of(kind), kGroup, type, did_you_mean(kind, ns, type)));
}

/// Built-in definitions have neither uid nor version and never change.
Result<DefinitionPtr> DefinitionStore::read_once(const Value& object) {
  const std::string version = fmt::format("{}/{}/{}/{}/{}", kube::kind(object), kube::ns(object), kube::name(object),
                                          kube::uid(object), object["metadata"]["resourceVersion"].as_string());
  if (const auto known = by_version_.find(version); known != by_version_.end()) return known->second;
  auto made = read(object);
  if (!made) return made;
  if (by_version_.size() >= kMaxKept) by_version_.clear();
  by_version_[version] = *made;
  return made;
}

Result<DefinitionPtr> DefinitionStore::read(const Value& object) {
  const std::string digest = sha256_hex(fmt::format("{}/{}/{}/{}", kube::kind(object), kube::name(object),
                                                    kube::annotation(object, kUserName), json::print(object["spec"])));
  if (const auto known = read_.find(digest); known != read_.end()) return known->second;
  auto made = read_definition(object, templates_);
  if (!made) return made;
  if (read_.size() >= kMaxKept) read_.clear();
  read_[digest] = *made;
  return made;
}

std::string DefinitionStore::did_you_mean(DefinitionKind kind, const std::string& ns, const std::string& type) const {
  std::string best;
  std::size_t least = 3;
  const auto look = [&](std::string_view name) {
    const std::size_t far = distance(type, name);
    if (far < least) least = far, best = name;
  };
  if (const auto rows = built_in().find(kind); rows != built_in().end()) {
    for (const auto& [name, object] : rows->second) look(name);
  }
  if (const auto informer = informers_.find(kind); informer != informers_.end()) {
    const std::vector<std::string> places = namespaces(ns);
    for (const kube::ObjectKey& key : informer->second->keys()) {
      if (std::ranges::find(places, key.ns) != places.end()) look(key.name);
    }
  }
  return best.empty() ? "" : fmt::format(" (did you mean \"{}\"?)", best);
}

}  // namespace slipway::delivery::application
