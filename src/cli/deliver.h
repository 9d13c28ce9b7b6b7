// Bringing objects to their end: apply what is in the files, run the controllers, show what changes, and give the verdict.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/manifests.h"
#include "cli/session.h"
#include "server/registry.h"

namespace slipway::cli {

enum class Output : std::uint8_t { Table, Json };

struct DeliverOptions {
  std::optional<Duration> timeout;
  Output output = Output::Table;
  bool approves_all = false;                    // what waits for a person goes on at once
  std::shared_ptr<client::Client> elsewhere{};  // follow there, where controllers run; null: the session's hub
  std::string place{};                          // how the cluster is named in commands: "--data-dir d"
};

/// An object to wait for.
struct Delivery {
  server::TypePtr type;
  kube::ObjectKey key;
};

/// Where objects are applied: a cluster, and the kinds that it serves.
struct Site {
  Env& env;
  std::shared_ptr<client::Client> client;
  std::function<Task<Result<server::TypePtr>>(kube::Object object)> find_type;
};
/// `server` must outlive it.
Site site_of(Env& env, server::Server& server);
Site site_of(Env& env, std::shared_ptr<client::Client> client);

/// Applies all objects by server-side apply, or none: every one is first tried as a dry run. CRDs and namespaces go first,
/// then what others name; what needs them is tried once they are there, so they may stay when it is refused.
/// Returns what was applied, in the order of the files. Errors name the place in the file.
Task<Result<std::vector<Delivery>>> apply_all(Site site, std::vector<Manifest> manifests, std::string default_namespace);

/// Starts the controllers and follows the deliveries that have an end to it (kinds without one are delivered once they are
/// applied), until they wait for a person, a time-out or an interruption; then stops the pods that still run. Elsewhere it only
/// looks.
Task<int> follow(Session& session, std::vector<Delivery> deliveries, DeliverOptions options);

}  // namespace slipway::cli
