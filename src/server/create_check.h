// Judges an object as if it were to be created, by the object alone: who makes objects of a built-in kind later from a
// template (a workflow its Jobs) learns at once what the server would say then. Runs what a create runs that is pure: pruning,
// defaults, the strategy of the kind, the rules of metadata and of the schema. What needs the store is left out: whether names
// are free, namespaces, rights, admission of families.
#pragma once

#include <memory>
#include <vector>

#include "kube/object.h"
#include "server/registry.h"

namespace slipway::server {

class CreateCheck {
 public:
  /// REQUIRES: `kind` is a built-in kind.
  explicit CreateCheck(const kube::GroupVersionKind& kind);
  /// Every violation, with the messages and field paths of a create; no time passes and nothing random is drawn.
  std::vector<Cause> operator()(const kube::Object& object) const;

 private:
  std::shared_ptr<const Registry> registry_;
  ServedPtr served_;
};

}  // namespace slipway::server
