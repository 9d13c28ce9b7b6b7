// The one object of a cluster elsewhere that a command is about, with what there is to see around it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/snapshot.h"

namespace slipway::cli {

struct Subject {
  Snapshot view;
  kube::Object object;
  kube::Resource resource{};
  std::string part;                       // KIND/NAME/PART
  std::vector<std::string> hindrances{};  // of the controllers
  std::shared_ptr<remote::RemoteClient> client{};
  std::string ns{};
};

/// By --kubeconfig, --context, -n and the target. BadRequest and NotFound say what to write instead.
Task<Result<Subject>> read_subject(Session& session, Arguments arguments);

}  // namespace slipway::cli
