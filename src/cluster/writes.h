// Writes that controllers share: exact ones (preconditions on uid and revision), and several at once.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/env.h"
#include "client/client.h"
#include "control/object_writes.h"

namespace slipway::cluster {

/// Runs writes side by side, so that they share a commit, and keeps the first error. REQUIRES: join() before the end of what
/// the writes refer to.
class Writes {
 public:
  explicit Writes(Env& env) : tasks_(env) {}
  void add(Task<Result<void>> write);
  /// The first error in the order of ending.
  Task<Result<void>> join();

 private:
  Task<> run(Task<Result<void>> write);

  Tasks tasks_;
  Result<void> first_;
};

/// Creates objects 1, 2, 4, … side by side, so that a template that is refused costs one request and not hundreds. The first
/// error ends it after the writes beside it.
Task<Result<void>> create_slowly(Env& env, client::Client& client, kube::Resource resource, std::vector<kube::Object> objects,
                                 std::string manager);

using control::remove_finalizer;
/// Deletes this very object (uid), if it is still there.
Task<Result<void>> remove_exactly(client::Client& client, kube::Resource resource, kube::Object object,
                                  std::string propagation = "Background");

}  // namespace slipway::cluster
