// Writes that controllers share: exact ones (preconditions on uid and revision), and several at once.
#pragma once

#include <string>
#include <string_view>

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

using control::remove_finalizer;
/// Deletes this very object (uid), if it is still there.
Task<Result<void>> remove_exactly(client::Client& client, kube::Resource resource, kube::Object object,
                                  std::string propagation = "Background");

}  // namespace slipway::cluster
