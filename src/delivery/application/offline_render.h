// The Applications of some files rendered without a controller: definitions, policies and workflows from the same files, from a
// cluster when there is one, else the built-in ones; the placements that the steps of the workflow would deliver to; the same
// renderer as the controller's. Every error says the line of the file that has to change.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "delivery/application/definition_store.h"
#include "delivery/application/parsed.h"
#include "delivery/application/policy.h"
#include "delivery/family.h"

namespace slipway::delivery::application {

/// Whether an object is a *Definition, and of which kind.
std::optional<DefinitionKind> definition_kind_of(const kube::Object& object);

/// Definitions, shared policies and workflows that were read before rendering begins.
class Known {
 public:
  /// `shared`: the namespace of the definitions that all may use.
  explicit Known(std::string shared = kDefinitionNamespace) : built_in_(std::move(shared)) {}

  /// What of `objects` is a definition, Policy or Workflow; those without a namespace are in `ns`. Later ones win.
  void add(const std::vector<SourceObject>& objects, const std::string& ns);
  /// What the cluster has in these namespaces and in those of the definitions for all.
  Task<Result<void>> read(client::Client& client, std::set<std::string> namespaces);
  Lookup lookup(const std::string& ns);

 private:
  std::vector<DefinitionPtr> global_policies(const std::string& ns);
  void put(const kube::Object& object, const std::string& ns);

  DefinitionStore built_in_;
  std::map<std::pair<DefinitionKind, kube::ObjectKey>, Value> definitions_;
  std::map<kube::ObjectKey, Value> policies_;
  std::map<kube::ObjectKey, Value> workflows_;
};

struct OfflineObject {
  std::string cluster;  // kHub for the application's own
  std::string component;
  Value object;
};

struct OfflineRendering {
  std::vector<OfflineObject> objects;
  std::vector<std::string> errors;  // "app.yaml:9: component web: …"
  std::vector<std::string> notes;   // what is left open, and why
};

/// The clusters that the Secrets of a hub describe, with their labels. None where these may not be read.
Task<std::vector<ClusterEntry>> clusters_of_hub(client::Client& hub);
/// `clusters`: those that topologies may choose from, beside the ones that they name. Without a client calls that templates
/// make are not run, and their components are left out with a note.
Task<OfflineRendering> render_offline(Env& env, client::Client* client, SourceObject application, std::string ns,
                                      std::vector<ClusterEntry> clusters, Lookup lookup);

bool is_application(const kube::Object& object);

}  // namespace slipway::delivery::application
