// CustomResourceDefinitions as the server uses them: once a definition is durable and its names are accepted, its versions are
// served. What a definition may say is judged by its strategy (builtin/crd.cc); that its instances go before it goes is the
// work of a controller, which then removes kCrdFinalizer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/resource.h"
#include "server/registry.h"

namespace slipway::server {

struct Site;

inline constexpr std::string_view kCrdFinalizer = "customresourcecleanup.apiextensions.k8s.io";

bool is_crd(const kube::GroupVersionKind& kind);
/// The versions of a definition that are to be served; empty while its names are not accepted. `modified` is the revision of
/// `crd`. Entries of `known` whose part of the definition is unchanged are taken over.
std::vector<Served> served_versions(const kube::Object& crd, kube::Revision modified, const std::vector<ServedPtr>& known);
/// Brings the registry in line with the durable definition under a key of the store (gone, if there is none).
void reload_crd(Site& site, std::string_view key);
void reload_all_crds(Site& site);
/// Definitions of the group of `name` ("widgets.example.com") whose names were taken when they were last written, by name.
std::vector<std::string> waiting_crds(const Site& site, std::string_view name);

}  // namespace slipway::server
