// Finds definitions: objects in the application's namespace, then in the one that was chosen for those for all, then in
// vela-system, then the built-in ones, which are the same for everybody. `name@v2` names a DefinitionRevision. What was read
// once is kept by what it was read from.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "control/controller.h"
#include "delivery/application/definition.h"
#include "delivery/application/kind.h"
#include "kube/admission.h"

namespace slipway::delivery::application {

/// The resource of a kind of definitions.
const kube::Resource& resource_of(DefinitionKind kind);

/// Whether a PolicyDefinition is for every application (`scope: Application`, `global: true`).
bool is_global_policy(const Value& definition);

class DefinitionStore {
 public:
  /// `shared`: the namespace of the definitions that all may use.
  explicit DefinitionStore(std::string shared = kDefinitionNamespace) : shared_(std::move(shared)) {}

  const std::string& shared_namespace() const { return shared_; }
  /// Where definitions for applications of a namespace are looked for, in that order.
  std::vector<std::string> namespaces(const std::string& ns) const;
  /// Whether applications of all namespaces find the definitions of this one.
  bool is_for_all(std::string_view ns) const;
  /// Follows the definitions of the home cluster; a change wakes no reconcile: who needs it looks again.
  void watch(control::Watches& watches);

  /// Errors: NotFound, with a name that may have been meant; Invalid for a definition that cannot be read.
  Result<DefinitionPtr> find(DefinitionKind kind, const std::string& ns, const std::string& type);
  /// The same where `cluster` finds the objects, for whoever follows no caches.
  Result<DefinitionPtr> find(DefinitionKind kind, const std::string& ns, const std::string& type,
                             const kube::FindObject& cluster);
  /// Reads a definition that is not in the cluster any more: of a revision.
  Result<DefinitionPtr> read(const Value& object);
  /// The policies of scope Application that every application of the namespace gets without naming them (`global: true`):
  /// those for all namespaces, then the namespace's own, which win over those of the same name; each by priority and name.
  /// None without watch().
  std::vector<DefinitionPtr> global_policies(const std::string& ns);
  /// PolicyDefinitions of the shared and one further namespace, in that order.
  std::vector<DefinitionPtr> read_policies(std::vector<Value> objects);
  /// The object itself, or null.
  Value find_object(DefinitionKind kind, const std::string& ns, const std::string& type) const;

 private:
  Value look_up(DefinitionKind kind, const std::string& ns, const std::string& type, const kube::FindObject& cluster) const;
  Result<DefinitionPtr> read_found(DefinitionKind kind, const std::string& ns, const std::string& type, const Value& object);
  Result<DefinitionPtr> read_once(const Value& object);
  std::string did_you_mean(DefinitionKind kind, const std::string& ns, const std::string& type) const;

  const std::string shared_;
  workflow::Templates templates_;
  std::map<DefinitionKind, control::Informer*> informers_;
  control::Informer* revisions_ = nullptr;
  std::map<std::string, DefinitionPtr> read_;  // by digest of kind, name and spec
  std::map<std::string, DefinitionPtr> by_version_;
};

}  // namespace slipway::delivery::application
