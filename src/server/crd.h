// CustomResourceDefinitions as the server uses them: once a definition is durable and its names are accepted, its versions are
// served. What a definition may say is judged by its strategy (builtin/crd.cc); that its instances go before it goes is the
// work of a controller, which then removes kCrdFinalizer.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kube/resource.h"
#include "server/registry.h"
#include "store/store.h"

namespace slipway::server {

struct ServerContext;

inline constexpr std::string_view kCrdFinalizer = "customresourcecleanup.apiextensions.k8s.io";

bool is_crd(const kube::GroupVersionKind& kind);
/// The versions of a definition that are to be served; empty while its names are not accepted. A definition that is being
/// deleted and serves no version is served in its storage version until it has gone, so that its objects can go before it
/// (DIVERGES: upstream deletes them behind the API). `modified` is the revision of
/// `crd`. Entries of `known` whose part of the definition is unchanged are taken over.
std::vector<Served> served_versions(const kube::Object& crd, kube::Revision modified, const std::vector<ServedPtr>& known);
/// Whether a definition has the name of a built-in resource, in whatever version. Such a definition is never served, accepted
/// or cleaned up after: the built-in resource stays what it is.
bool is_named_as_builtin(const Registry& registry, std::string_view group, std::string_view plural);

/// Keeps the registry in line with the definitions that are durable. None takes the place of a kind that functions answer.
class DefinitionProjection : public store::Projection {
 public:
  DefinitionProjection(store::Store& store, Registry& registry);
  void apply(const store::Change& change) override;

 private:
  Registry& registry_;
  std::unique_ptr<store::Following> following_;
};

/// Definitions of the group of `name` ("widgets.example.com"; "": of all groups) beside that one whose names were taken when
/// they were last written, by name.
std::vector<std::string> waiting_crds(const ServerContext& context, std::string_view name);
/// Definitions named as built-in resources whose status says that they were accepted, as an earlier version of this program
/// wrote it, by name.
std::vector<std::string> wrongly_accepted_crds(const ServerContext& context);

}  // namespace slipway::server
