// The rules of ObjectMeta that hold for every kind (k8s.io/apimachinery/pkg/api/validation, rest.BeforeCreate and
// BeforeUpdate): what the server fills in, what may not change, what is well-formed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "kube/object.h"
#include "kube/resource.h"
#include "server/builtin/strategy.h"

namespace slipway::server {

/// What the server gives a new object.
struct Birth {
  std::string name;
  std::string_view ns;  // empty: cluster-scoped
  std::string uid;
  Time now;
  bool has_generation = true;
  kube::Revision revision = 0;  // 0: none (a dry run)
};
/// The object with complete metadata: what a client may not choose is dropped or set.
kube::Object with_birth(const kube::Object& object, const Birth& birth);

/// The object with what a client may leave out, or may not choose, taken from `old`: uid, creationTimestamp, deletionTimestamp,
/// generation, resourceVersion.
kube::Object with_old_metadata(const kube::Object& object, const kube::Object& old);

/// What differs between kinds in the judgement of their metadata.
struct MetadataRules {
  NameRule name = NameRule::Subdomain;
  bool takes_plain_finalizers = false;  // "cleanup" beside "example.com/cleanup"
};
/// Every fault of metadata. `old` is null for a create. Custom resources may have finalizers without a domain.
void metadata_causes(const kube::Object& object, const kube::Object& old, const MetadataRules& rules,
                     std::vector<Cause>& causes);

/// Warnings about finalizers of a custom resource that are new and lack a domain.
std::vector<std::string> finalizer_warnings(const kube::Object& object, const kube::Object& old);

}  // namespace slipway::server
