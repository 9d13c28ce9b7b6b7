// The cluster that a command works on: the hub of a data folder, or one that a kubeconfig names.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "control/explain.h"
#include "kube/resource_word.h"
#include "remote/remote_client.h"

namespace slipway::cli {

class Snapshot;

struct Place {
  std::shared_ptr<client::Client> client;
  std::shared_ptr<remote::RemoteClient> elsewhere;  // the same; null for a data folder
  std::string ns;                                   // as given, else that of the kubeconfig's context, else "default"
  std::string kubeconfig;                           // as given
};
Result<Place> place_of(Session& session, const Arguments& arguments);

/// An object that was named, with what explain rows and summaries may see beside it: all of a data folder; elsewhere what
/// Snapshot reads of one namespace, and by look_at() of others.
struct Found {
  Place place;
  kube::Object object;
  std::string part;
  std::vector<kube::Object> events;  // of any objects of its namespace
  std::shared_ptr<const control::View> view;
  std::shared_ptr<Snapshot> snapshot{};  // the same; null for a data folder
};
Task<Result<Found>> find_object(Session& session, Arguments arguments);
/// Calls `look`, and again while what it looks for in other namespaces of a server comes to be read. Notes of what cannot be
/// read go to standard error.
Task<Result<void>> look_at(Found found, std::function<void(const control::View& view)> look);
/// What `why` says of it; the exit code.
Task<int> print_why(Session& session, Found found);

/// A client of one of the clusters that applications of the place name; empty is the place itself: another of the data folder,
/// or the context of that name in the same kubeconfig, as `slipway up` writes it. NotFound when it is not known.
Result<std::shared_ptr<client::Client>> find_cluster(Session& session, Place place, std::string cluster);

/// An object that people named for a verb of a family: `app/web`, `app web`, `app/web/step`, or `web` where a kind takes that.
struct ActedOn {
  kube::ResourceTypePtr type;
  std::string name;
  std::string part;
  /// Of a bare name that more than one kind takes: the other kinds.
  std::vector<kube::ResourceTypePtr> others{};
};
/// The kind that has an object of that name. NotFound when none has, Conflict when several have.
Task<Result<ActedOn>> find_kind(client::Client& client, std::string ns, ActedOn subject);
/// BadRequest when the words name no kind that has the verb: the message says which have it.
Result<ActedOn> subject_of(const std::string& verb, const std::vector<std::string>& words);

}  // namespace slipway::cli
