#include "cli/cluster_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "cli/remote_session.h"
#include "delivery/family/text.h"
#include "fleet/cluster_secrets.h"
#include "kube/names.h"
#include "kube/well_known.h"
#include "plane/families.h"

namespace slipway::cli {
namespace {

using delivery::Holding;
using fleet::ClusterSecret;
using json::Value;
using kube::kSecrets;

constexpr const char* kClusterManager = "slipway-cluster";
constexpr int kForgetTries = 5;

struct ClusterArguments {
  std::string kubeconfig;  // of the hub
  std::string hub_context;
  std::string data_dir;
  std::string name;
  std::string new_name;
  std::string file;  // kubeconfig of the cluster that joins
  std::string context;
  std::vector<std::string> labels;
  bool is_forced = false;
};

Status bad_request(std::string message) {
  Status status;
  status.reason = Reason::BadRequest;
  status.message = std::move(message);
  return status;
}

/// A cluster and the Secret that it was read from.
struct Known {
  Value secret;
  ClusterSecret cluster;
};

Task<Result<Known>> find_cluster(client::Client& hub, std::string name) {
  if (name == fleet::kHubCluster) co_return fail(bad_request(fmt::format("{} is the hub itself", name)));
  auto secret = co_await client::get(hub, kSecrets, {fleet::kClusterNamespace, name});
  if (!secret && secret.error().reason != Reason::NotFound) co_return fail(std::move(secret).error());
  auto cluster = secret ? fleet::read_cluster_secret(*secret) : std::nullopt;
  if (!cluster) co_return fail(Reason::NotFound, fmt::format("there is no cluster {}", name));
  co_return Known{*secret, std::move(*cluster)};
}

/// What applications, and whatever else delivers, keep there.
Task<Result<std::vector<Holding>>> held_in(client::Client& hub, std::string cluster) {
  std::vector<Holding> all;
  for (const delivery::Family* family : plane::families()) {
    if (!family->held_in) continue;
    SLIPWAY_CO_TRY(held, co_await family->held_in(hub, cluster));
    all.insert(all.end(), held.begin(), held.end());
  }
  co_return all;
}

void print_holdings(const std::vector<Holding>& held) {
  std::vector<std::vector<std::string>> rows = {{"OWNER", "OBJECT"}};
  for (const Holding& one : held) rows.push_back({one.owner, one.object});
  fmt::print("{}", delivery::aligned(rows));
  std::fflush(stdout);  // before what standard error says of them
}

std::string counted(std::size_t objects) { return objects == 1 ? "1 object" : fmt::format("{} objects", objects); }

Task<Result<std::string>> version_of(client::Client& cluster) {
  auto* remote = dynamic_cast<remote::RemoteClient*>(&cluster);
  if (remote == nullptr) co_return "embedded";
  SLIPWAY_CO_TRY(answer, co_await remote->get_path("/version"));
  co_return answer.object["gitVersion"].str();
}

Task<int> join(Session& session, client::Client& hub, ClusterArguments arguments) {
  if (!kube::dns1123_subdomain_faults(arguments.name).empty() || arguments.name == fleet::kHubCluster) {
    co_return report(bad_request(fmt::format("\"{}\" cannot be the name of a cluster: give a DNS name other than {}",
                                             arguments.name, fleet::kHubCluster)));
  }
  const auto connection = connection_in(session.env().files, arguments.file, arguments.context);
  if (!connection) co_return report(connection.error(), arguments.file);
  auto secret = cluster_secret(arguments.name, *connection);
  if (!secret) co_return report(secret.error(), arguments.file);
  const auto version = co_await version_of(*connect(session, *connection));
  if (!version) co_return report(version.error(), connection->server);
  if (const auto made = co_await fleet::make_cluster_namespace(hub); !made) co_return report(made.error());
  auto stored = co_await client::create(hub, kSecrets, *secret, kClusterManager);
  if (!stored && stored.error().reason == Reason::AlreadyExists) {
    // One that the hub's process serves can be joined beside that, for controllers in other processes. It keeps its labels.
    const auto known = co_await find_cluster(hub, arguments.name);
    if (known && known->cluster.is_internal()) {
      const Value credentials = json::object(
          {{"metadata", json::object({{"labels", (*secret)["metadata"]["labels"]}})}, {"data", (*secret)["data"]}});
      stored = co_await client::merge_patch(hub, kSecrets, kube::key_of(known->secret), credentials, kClusterManager);
    }
  }
  if (!stored && stored.error().reason == Reason::AlreadyExists) {
    co_return report(bad_request(fmt::format("there is a cluster, or another Secret, of the name {}", arguments.name)));
  }
  if (!stored) co_return report(stored.error());
  fmt::print("cluster {} joined: {} ({})\n", arguments.name, connection->server, *version);
  co_return kDelivered;
}

std::string shown(const std::map<std::string, std::string>& labels) {
  std::vector<std::string> all;
  for (const auto& [key, value] : labels) {
    if (fleet::is_cluster_label(key)) all.push_back(key + "=" + value);
  }
  return all.empty() ? "-" : fmt::format("{}", fmt::join(all, ","));
}

Task<int> list(Session&, client::Client& hub, ClusterArguments) {
  const auto clusters = co_await fleet::list_clusters(hub);
  if (!clusters) co_return report(clusters.error());
  const auto or_dash = [](const std::string& text) { return text.empty() ? "-" : text; };
  std::vector<std::vector<std::string>> rows = {{"CLUSTER", "ALIAS", "TYPE", "ENDPOINT", "LABELS", "PROBLEM"}};
  rows.push_back({fleet::kHubCluster, "-", "Internal", "-", "-", "-"});
  for (const fleet::ClusterSecret& cluster : *clusters) {
    rows.push_back({cluster.name, or_dash(cluster.alias), cluster.type, or_dash(cluster.endpoint), shown(cluster.labels),
                    cluster.access || cluster.is_internal() ? "-" : cluster.access.error().message});
  }
  fmt::print("{}", delivery::aligned(rows));
  co_return kDelivered;
}

/// Nothing, or why the Secret of a cluster cannot go.
std::optional<Status> internal_fault(const Known& known) {
  if (!known.cluster.is_internal()) return std::nullopt;
  return bad_request(fmt::format("cluster {} is served by the process of the hub, which names it (slipway up --clusters)",
                                 known.cluster.name));
}

constexpr const char* kNoAuthority =
    "its Secret has no data.ca.crt, so the authorities of this machine verify its certificate: put the cluster's authority "
    "there, "
    "or data.insecure \"true\" to send its credentials to any server that answers";

Task<int> probe(Session& session, client::Client& hub, ClusterArguments arguments) {
  if (arguments.name == fleet::kHubCluster) {
    const auto version = co_await version_of(hub);
    if (!version) co_return report(version.error(), arguments.name);
    fmt::print("cluster {} answers: {}\n", arguments.name, *version);
    co_return kDelivered;
  }
  const auto known = co_await find_cluster(hub, arguments.name);
  if (!known) co_return report(known.error());
  if (known->cluster.is_internal()) {
    fmt::print("cluster {} is served by the process of the hub\n", arguments.name);
    co_return kDelivered;
  }
  if (!known->cluster.access) co_return report(known->cluster.access.error(), arguments.name);
  const auto client = remote_factory(session.env())(*known->cluster.access);
  if (!client) co_return report(client.error(), arguments.name);
  session.hold(*client);
  const auto version = co_await version_of(**client);
  if (!version) {
    report(version.error(), fmt::format("cluster {} does not answer", arguments.name));
    if (known->cluster.trust == fleet::ServerTrust::System) fmt::print(stderr, "slipway: {}\n", kNoAuthority);
    co_return kFailed;
  }
  fmt::print("cluster {} answers: {}\n", arguments.name, *version);
  if (known->cluster.trust == fleet::ServerTrust::Any)
    fmt::print("its certificate is not verified (data.insecure of its Secret)\n");
  if (known->cluster.trust == fleet::ServerTrust::System)
    fmt::print("its certificate is verified by the authorities of this machine\n");
  co_return kDelivered;
}

/// `key=value` sets, `key-` removes. As a merge patch of labels.
Result<Value> label_patch(const std::vector<std::string>& changes) {
  json::ObjectBuilder patch;
  for (const std::string& change : changes) {
    const auto equals = change.find('=');
    const bool removes = equals == std::string::npos && change.ends_with('-');
    const std::string key = removes ? change.substr(0, change.size() - 1) : change.substr(0, equals);
    if (key.empty() || (!removes && equals == std::string::npos)) {
      return fail(bad_request(fmt::format("{}: give KEY=VALUE, or KEY- to remove", change)));
    }
    if (!fleet::is_cluster_label(key)) return fail(bad_request(fmt::format("label {} says how the cluster is reached", key)));
    patch.set(key, removes ? Value() : Value(change.substr(equals + 1)));
  }
  return json::object({{"metadata", json::object({{"labels", patch.build()}})}});
}

Task<int> labels(Session&, client::Client& hub, ClusterArguments arguments) {
  const auto known = co_await find_cluster(hub, arguments.name);
  if (!known) co_return report(known.error());
  Value secret = known->secret;
  if (!arguments.labels.empty()) {
    const auto patch = label_patch(arguments.labels);
    if (!patch) co_return report(patch.error());
    const auto changed = co_await client::merge_patch(hub, kSecrets, kube::key_of(secret), *patch, kClusterManager);
    if (!changed) co_return report(changed.error());
    secret = *changed;
  }
  fmt::print("{}\n", shown(fleet::read_cluster_secret(secret)->labels));
  co_return kDelivered;
}

Task<int> rename(Session&, client::Client& hub, ClusterArguments arguments) {
  const auto known = co_await find_cluster(hub, arguments.name);
  if (!known) co_return report(known.error());
  if (const auto fault = internal_fault(*known)) co_return report(*fault);
  if (!kube::dns1123_subdomain_faults(arguments.new_name).empty() || arguments.new_name == fleet::kHubCluster) {
    co_return report(bad_request(fmt::format("\"{}\" cannot be the name of a cluster", arguments.new_name)));
  }
  const auto held = co_await held_in(hub, arguments.name);
  if (!held) co_return report(held.error());
  if (!held->empty()) {
    print_holdings(*held);
    co_return report(
        bad_request(fmt::format("cluster {} is in use under that name: it keeps {}", arguments.name, counted(held->size()))));
  }
  const Value& metadata = known->secret["metadata"];
  const Value renamed = known->secret.with("metadata", json::object({{"name", arguments.new_name},
                                                                     {"namespace", metadata["namespace"]},
                                                                     {"labels", metadata["labels"]},
                                                                     {"annotations", metadata["annotations"]}}));
  const auto made = co_await client::create(hub, kSecrets, renamed, kClusterManager);
  if (!made) co_return report(made.error());
  const auto removed = co_await client::remove(hub, kSecrets, kube::key_of(known->secret));
  if (!removed && removed.error().reason != Reason::NotFound) co_return report(removed.error());
  fmt::print("cluster {} is called {} now\n", arguments.name, arguments.new_name);
  co_return kDelivered;
}

/// Trackers are struck off after the Secret has gone, so that nothing is delivered there meanwhile.
Task<Result<void>> forget(client::Client& hub, std::string cluster) {
  for (const delivery::Family* family : plane::families()) {
    if (!family->forget_cluster) continue;
    for (int tries = 1;; ++tries) {
      auto done = co_await family->forget_cluster(hub, cluster);
      if (done) break;
      if (done.error().reason != Reason::Conflict || tries == kForgetTries) co_return fail(std::move(done).error());
    }
  }
  co_return Result<void>{};
}

Task<int> detach(Session&, client::Client& hub, ClusterArguments arguments) {
  const auto known = co_await find_cluster(hub, arguments.name);
  if (const auto fault = known ? internal_fault(*known) : std::nullopt) co_return report(*fault);
  const auto held = co_await held_in(hub, arguments.name);
  if (!held) co_return report(held.error());
  // One that was cut off goes on: the Secret may have gone already.
  const bool is_left_over = !known && known.error().reason == Reason::NotFound && arguments.is_forced && !held->empty();
  if (!known && !is_left_over) co_return report(known.error());
  if (!held->empty()) print_holdings(*held);
  if (!held->empty() && !arguments.is_forced) {
    co_return report(
        bad_request(fmt::format("cluster {} keeps {}: delete what owns them, or give --force to count "
                                "them as gone",
                                arguments.name, counted(held->size()))));
  }
  if (known) {
    const auto removed = co_await client::remove(hub, kSecrets, kube::key_of(known->secret));
    if (!removed && removed.error().reason != Reason::NotFound) co_return report(removed.error());
  }
  if (!held->empty()) {
    if (const auto done = co_await forget(hub, arguments.name); !done) co_return report(done.error());
  }
  fmt::print("cluster {} detached{}\n", arguments.name,
             held->empty() ? "" : fmt::format("; {} there count as gone", counted(held->size())));
  co_return kDelivered;
}

struct ClusterVerb {
  const char* name;
  const char* help;
  bool writes;
  Task<int> (*run)(Session&, client::Client& hub, ClusterArguments);
};

constexpr ClusterVerb kVerbs[] = {
    {"join", "make a cluster known to the hub", true, join},
    {"list", "list the clusters that the hub knows", false, list},
    {"probe", "ask a cluster whether it answers", false, probe},
    {"labels", "show, set (KEY=VALUE) and remove (KEY-) labels of a cluster", true, labels},
    {"rename", "give a cluster that keeps nothing another name", true, rename},
    {"detach", "make a cluster unknown to the hub", true, detach},
};

Task<int> run_verb(Session& session, const ClusterVerb& verb, ClusterArguments arguments) {
  if (!arguments.data_dir.empty()) co_return co_await verb.run(session, session.server(), std::move(arguments));
  Arguments of_hub;
  of_hub.kubeconfig = arguments.kubeconfig;
  of_hub.context = arguments.hub_context;
  const auto connection = connection_of(session.env().files, of_hub);
  if (!connection) co_return report(connection.error());
  const auto hub = connect(session, *connection);
  co_return co_await verb.run(session, *hub, std::move(arguments));
}

int execute(const ClusterVerb& verb, const ClusterArguments& arguments) {
  const bool is_elsewhere = arguments.data_dir.empty();
  const std::string scratch = is_elsewhere ? make_temporary_folder() : "";
  if (is_elsewhere && scratch.empty()) return report(bad_request("cannot make a temporary folder: set TMPDIR"));
  SessionOptions options;
  options.data_dir = is_elsewhere ? scratch : absolute(arguments.data_dir);
  options.is_read_only = !is_elsewhere && !verb.writes;
  options.opens_cluster = !is_elsewhere;
  Session session(options);
  const int code = session.run([&](Session& open) { return run_verb(open, verb, arguments); });
  if (is_elsewhere) static_cast<void>(session.env().files.remove_all(scratch));
  return code;
}

void add_verb_options(CLI::App& sub, const std::string& verb, ClusterArguments& arguments) {
  sub.add_option("--kubeconfig", arguments.kubeconfig,
                 "of the hub (default: KUBECONFIG, ~/.kube/config, the pod's own account)");
  sub.add_option("--hub-context", arguments.hub_context, "context of the hub's kubeconfig (default: the current one)");
  sub.add_option("--data-dir", arguments.data_dir, "the hub is in this folder, and nobody serves it now");
  if (verb != "list") sub.add_option("name", arguments.name, "name of the cluster")->required();
  if (verb == "join") {
    sub.add_option("--kubeconfig-file", arguments.file, "how the cluster is reached")->required();
    sub.add_option("--context", arguments.context, "context of that file (default: the current one)");
  }
  if (verb == "labels") sub.add_option("labels", arguments.labels, "KEY=VALUE or KEY-")->delimiter(',');
  if (verb == "rename") sub.add_option("new-name", arguments.new_name, "the new name")->required();
  if (verb == "detach") {
    sub.add_flag("--force", arguments.is_forced, "though objects are kept there: they count as gone, and are listed");
  }
}

}  // namespace

void add_cluster_command(CLI::App& app, int& code) {
  CLI::App* cluster = app.add_subcommand("cluster", "the clusters that a hub delivers to");
  cluster->require_subcommand(1);
  const auto arguments = std::make_shared<ClusterArguments>();
  for (const ClusterVerb& verb : kVerbs) {
    CLI::App* sub = cluster->add_subcommand(verb.name, verb.help);
    add_verb_options(*sub, verb.name, *arguments);
    sub->callback([arguments, &verb, &code] { code = execute(verb, *arguments); });
  }
}

}  // namespace slipway::cli
