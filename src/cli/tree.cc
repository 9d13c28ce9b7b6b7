#include "cli/tree.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "delivery/family/kind_mapper.h"
#include "delivery/family/text.h"
#include "plane/show.h"

namespace slipway::cli {
namespace {

using json::Value;
using kube::Object;

/// Kinds whose objects controllers of Kubernetes make for others.
const kube::GroupVersionKind kOwned[] = {{"apps", "v1", "ReplicaSet"}, {"batch", "v1", "Job"}, {"", "v1", "Pod"}};
constexpr int kMaxDepth = 8;

/// The objects that may be owned, of one namespace of one cluster.
struct Owned {
  std::vector<Object> objects;
  std::string problem;
};

class Builder {
 public:
  Builder(Session& session, Place place) : session_(session), place_(std::move(place)) {}

  Task<TreeNode> made(delivery::MadeObject one, int depth = 0) {
    TreeNode node{.cluster = one.cluster, .reference = one.reference, .object = {}, .problem = "", .children = {}};
    const auto client = on(one.cluster);
    if (!client) {
      node.problem = client.error().message;
      co_return node;
    }
    const auto kind = co_await kinds_.find_for(**client, one.cluster, one.reference);
    if (!kind) {
      node.problem = kind.error().message;
      co_return node;
    }
    const std::string ns = kind->is_namespaced ? one.reference["namespace"].str() : "";
    auto live = co_await client::get(**client, kind->resource, {ns, one.reference["name"].str()});
    if (!live && live.error().reason != Reason::NotFound) node.problem = live.error().message;
    if (live) node.object = *live;
    if (live) node.children = co_await below(*live, one.cluster, depth);
    co_return node;
  }

  /// What it says that it made, else what it owns.
  Task<std::vector<TreeNode>> below(Object object, std::string cluster, int depth) {
    const delivery::KindRow* row = plane::find_row(object);
    const std::vector<delivery::MadeObject> all =
        row != nullptr && row->made && depth < kMaxDepth ? row->made(object) : std::vector<delivery::MadeObject>{};
    if (all.empty()) co_return co_await owned_by(object, cluster, depth);
    std::vector<TreeNode> children;
    for (delivery::MadeObject one : all) {
      if (one.cluster.empty()) one.cluster = cluster;
      children.push_back(co_await made(std::move(one), depth + 1));
    }
    co_return children;
  }

  Task<std::vector<TreeNode>> owned_by(Object owner, std::string cluster, int depth) {
    std::vector<TreeNode> children;
    const Owned all = co_await owned_in(cluster, std::string(kube::ns(owner)));
    if (depth >= kMaxDepth) co_return children;
    for (const Object& object : all.objects) {
      if (!kube::is_owned_by(object, kube::uid(owner))) continue;
      TreeNode node{
          .cluster = cluster, .reference = kube::reference_to(object), .object = object, .problem = "", .children = {}};
      node.children = co_await owned_by(object, cluster, depth + 1);
      children.push_back(std::move(node));
    }
    if (!all.problem.empty()) {
      children.push_back({.cluster = cluster, .reference = {}, .object = {}, .problem = all.problem, .children = {}});
    }
    co_return children;
  }

 private:
  Result<std::shared_ptr<client::Client>> on(const std::string& cluster) {
    if (const auto known = clients_.find(cluster); known != clients_.end()) return known->second;
    return clients_.emplace(cluster, find_cluster(session_, place_, cluster)).first->second;
  }
  Task<Owned> owned_in(std::string cluster, std::string ns) {
    if (const auto known = owned_.find({cluster, ns}); known != owned_.end()) co_return known->second;
    Owned found;
    const auto client = on(cluster);
    if (!client) found.problem = client.error().message;
    for (const kube::GroupVersionKind& kind : kOwned) {
      if (!client || !found.problem.empty()) break;
      const auto mapped = co_await kinds_.find(**client, cluster, kind);
      if (!mapped) continue;
      const auto list =
          co_await client::list(**client, mapped->resource, {.ns = ns, .label_selector = "", .field_selector = ""});
      if (!list) {
        found.problem = list.error().message;
        break;
      }
      for (const Value& item : (*list)["items"].items()) {
        found.objects.push_back(item.with("apiVersion", kind.api_version()).with("kind", kind.kind));
      }
    }
    owned_[{cluster, ns}] = found;
    co_return found;
  }

  Session& session_;
  Place place_;
  std::map<std::string, Result<std::shared_ptr<client::Client>>> clients_;
  delivery::KindMapper kinds_;
  std::map<std::pair<std::string, std::string>, Owned> owned_;
};

std::string waiting_reason(const Object& pod) {
  for (const char* field : {"initContainerStatuses", "containerStatuses"}) {
    for (const Value& container : pod["status"][field].items()) {
      const Value& waiting = container["state"]["waiting"];
      if (!waiting.is_object()) continue;
      const auto message = waiting["message"].as_string();
      return fmt::format(", {}{}{}", waiting["reason"].as_string(), message.empty() ? "" : ": ", message);
    }
  }
  return "";
}

std::string state_of(const TreeNode& node) {
  if (!node.problem.empty()) return "unknown: " + node.problem;
  const Object& object = node.object;
  if (object.is_null()) return "not there";
  if (kube::is_deleting(object)) return "is being deleted";
  const Value& status = object["status"];
  if (kube::kind(object) == "Pod") {
    return fmt::format("{}{}{}", status["phase"].as_string(), kube::is_true(object, "Ready") ? ", ready" : "",
                       waiting_reason(object));
  }
  if (object["spec"].has("replicas")) {
    return fmt::format("{} of {} ready", status["readyReplicas"].as_int(), object["spec"]["replicas"].as_int());
  }
  const auto end = plane::verdict(object);
  return end ? end->text : "";
}

void print_node(const TreeNode& node, const std::string& indent, bool is_last, std::string& out) {
  const std::string kind = node.reference["kind"].str();
  const std::string ns = node.reference["namespace"].str();
  const std::string state = delivery::one_line(state_of(node));
  out += fmt::format("{}{} {}{}{}{}{}{}\n", indent, is_last ? "└─" : "├─", kind, kind.empty() ? "" : " ",
                     ns.empty() ? "" : ns + "/", node.reference["name"].as_string(), state.empty() ? "" : "  ", state);
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    print_node(node.children[i], indent + (is_last ? "   " : "│  "), i + 1 == node.children.size(), out);
  }
}

void collect_pods(const std::vector<TreeNode>& nodes, std::vector<TreeNode>& pods) {
  for (const TreeNode& node : nodes) {
    if (kube::kind(node.object) == "Pod") pods.push_back(node);
    collect_pods(node.children, pods);
  }
}

}  // namespace

Task<std::vector<TreeNode>> tree_of(Session& session, Place place, Object object, std::string part) {
  Builder builder(session, std::move(place));
  std::vector<TreeNode> nodes;
  const delivery::KindRow* row = plane::find_row(object);
  const bool narrows = !part.empty() && row != nullptr && row->is_of_part;
  if (row != nullptr && row->made) {
    for (const delivery::MadeObject& one : row->made(object)) nodes.push_back(co_await builder.made(one));
  } else {
    nodes = co_await builder.owned_by(object, "", 0);
  }
  if (narrows) std::erase_if(nodes, [&](const TreeNode& node) { return !row->is_of_part(node.object, part); });
  co_return nodes;
}

std::string print_tree(const std::vector<TreeNode>& nodes) {
  std::string out;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const bool is_first = i == 0 || nodes[i].cluster != nodes[i - 1].cluster;
    const bool is_last = i + 1 == nodes.size() || nodes[i + 1].cluster != nodes[i].cluster;
    const bool is_only_cluster = nodes.front().cluster == nodes.back().cluster && nodes[i].cluster.empty();
    if (is_first && !is_only_cluster) out += fmt::format("cluster {}\n", nodes[i].cluster.empty() ? "local" : nodes[i].cluster);
    print_node(nodes[i], "", is_last, out);
  }
  return out;
}

std::vector<TreeNode> pods_in(const std::vector<TreeNode>& nodes) {
  std::vector<TreeNode> all;
  collect_pods(nodes, all);
  std::vector<TreeNode> pods;
  std::set<std::pair<std::string, std::string>> known;
  for (TreeNode& pod : all) {
    if (known.emplace(pod.cluster, std::string(kube::uid(pod.object))).second) pods.push_back(std::move(pod));
  }
  return pods;
}

}  // namespace slipway::cli
