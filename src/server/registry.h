// Which resources are served: the built-in kinds and those of CustomResourceDefinitions.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kube/resource.h"

namespace slipway::server {

using TypePtr = std::shared_ptr<const kube::ResourceType>;

class Registry {
 public:
  /// NotFound "the server could not find the requested resource" when not served.
  Result<TypePtr> find(const kube::Resource& resource) const;
  /// NotFound `no matches for kind "X" in version "g/v"`.
  Result<TypePtr> find_kind(const kube::GroupVersionKind& kind) const;
  /// By what people type: plural, singular, short name, kind in any case, "plural.group"; NotFound otherwise.
  Result<TypePtr> find_word(std::string_view word) const;
  void put(kube::ResourceType type);
  void remove(const kube::Resource& resource);
  /// In order of group, version, plural.
  std::vector<TypePtr> all() const;

 private:
  std::map<kube::Resource, TypePtr> types_;
};

}  // namespace slipway::server
