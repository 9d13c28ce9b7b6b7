#include "actors.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "json/text.h"

namespace slipway::nephio {
namespace {

constexpr const char* kLocal = "config.kubernetes.io/local-config";
constexpr const char* kNamespace = "specializer.nephio.org/namespace";
constexpr const char* kDelete = "specializer.nephio.org/delete";
constexpr const char* kSpecialize = "nephio.org.Specializer.specialize";
constexpr const char* kDone = "update done";

std::string annotation(const Value& object, const char* key) { return object["metadata"]["annotations"][key].str(); }

std::string last_part(const std::string& ref) { return ref.substr(ref.rfind('.') + 1); }

Value object_of(std::string_view kind, const std::string& name, Value annotations) {
  const std::size_t dot = kind.rfind('.');
  const Value metadata = json::object({{"name", Value(name)}, {"annotations", std::move(annotations)}});
  return json::object(
      {{"apiVersion", Value(kind.substr(0, dot))}, {"kind", Value(kind.substr(dot + 1))}, {"metadata", metadata}});
}

/// The package's one cluster; a fault where there are several, null where there is none.
struct ClusterOf {
  Value cluster{};
  std::string fault{};
};
ClusterOf cluster_of(const Inventory& package) {
  const auto all = package.all(kCluster);
  if (all.size() > 1) return {.fault = "multiple WorkloadCluster objects found in the kpt package"};
  return {.cluster = all.empty() ? Value() : all.front()};
}

/// What an object of `kind` asks for: references of children, with the objects to create (null: another actor makes it).
struct Wish {
  std::string fault{};
  std::map<std::string, Value> children{};
};

/// The steps that interfaces and data networks have in common: ask for what is missing, mark what is no longer asked for,
/// and show the children's answers once all have one.
class Choreography {
 public:
  Choreography(Inventory& package, std::string_view kind, std::vector<std::string_view> owned)
      : package_(package), kind_(kind), owned_(std::move(owned)) {}

  void run(const std::function<Wish(const Value& object, const Value& cluster)>& wish,
           const std::function<Value(const Value& object, const Inventory& package)>& answered) {
    const ClusterOf found = cluster_of(package_);
    std::map<std::string, Wish> wishes;
    for (const Value& one : package_.all(kind_)) {
      const std::string ref = ref_of(one);
      Wish wanted;
      if (found.fault.empty() && found.cluster.is_null()) continue;
      if (found.fault.empty()) wanted = wish(one, found.cluster);
      if (!found.fault.empty()) wanted.fault = found.fault;
      if (!wanted.fault.empty()) {
        package_.say(ref, false, wanted.fault);
      } else if (!wanted.children.empty() && package_.condition(ref).is_null()) {
        package_.say(ref, false, "update for condition");
      }
      wishes.emplace(ref, std::move(wanted));
    }
    for (const auto& [ref, wanted] : wishes) ask(ref, wanted);
    if (found.fault.empty()) mark_orphans(wishes);
    for (const auto& [ref, wanted] : wishes) finish(ref, wanted, answered);
  }

 private:
  void ask(const std::string& ref, const Wish& wanted) {
    for (const auto& [child, object] : wanted.children) {
      if (!package_.condition(child).is_null()) continue;
      package_.say(child, false, "create initial resource", ref);
      if (!object.is_null() && package_.find(child).is_null()) package_.put(object);
    }
  }
  void mark_orphans(const std::map<std::string, Wish>& wishes) {
    for (const std::string_view kind : owned_) {
      for (const Value& child : package_.all(kind)) {
        const std::string owner = annotation(child, kOwner);
        if (name_in(owner, kind_).empty()) continue;
        const auto wanted = wishes.find(owner);
        if (wanted != wishes.end() && (!wanted->second.fault.empty() || wanted->second.children.contains(ref_of(child)))) {
          continue;
        }
        if (annotation(child, kDelete) == "true") continue;
        package_.put(child.with_path({"metadata", "annotations", kDelete}, "true"));
        package_.say(ref_of(child), false, "delete resource", owner);
      }
    }
  }
  void finish(const std::string& ref, const Wish& wanted,
              const std::function<Value(const Value& object, const Inventory& package)>& answered) {
    const bool is_complete =
        std::ranges::all_of(wanted.children, [&](const auto& child) { return package_.is_true(child.first); });
    if (!wanted.fault.empty() || !is_complete) return;
    package_.put(answered(package_.find(ref), package_));
    package_.say(ref, true, kDone);
  }

  Inventory& package_;
  std::string_view kind_;
  std::vector<std::string_view> owned_;
};

Value annotations_of_child(const Value& parent) {
  return json::object({{kLocal, Value("true")}, {kFor, Value(annotation(parent, kOwner))}, {kOwner, Value(ref_of(parent))}});
}

Value claim_of(const Value& parent, const std::string& name, const std::string& family, const Value& cluster, Value spec) {
  const Value labels =
      json::object({{"nephio.org/address-family", Value(family)}, {"nephio.org/cluster-name", cluster["spec"]["clusterName"]}});
  spec = spec.with("networkInstance", parent["spec"]["networkInstance"]).with_path({"selector", "matchLabels"}, labels);
  return object_of(kIpClaim, name, annotations_of_child(parent)).with("spec", spec).with("status", Value::empty_object());
}

std::vector<std::string> families_of(const Value& interface) {
  const std::string_view policy = interface["spec"]["ipFamilyPolicy"].as_string();
  if (policy == "dualstack") return {"ipv4", "ipv6"};
  return {policy == "ipv6only" ? "ipv6" : "ipv4"};
}

/// "upf-cluster01-n3" for the interface n3 of the deployment upf-cluster01.
std::string child_name(const Value& parent) {
  return fmt::format("{}-{}", last_part(annotation(parent, kOwner)), parent["metadata"]["name"].as_string());
}

Wish wish_of_interface(const Value& interface, const Value& cluster) {
  const Value& spec = interface["spec"];
  if (spec["networkInstance"]["name"].as_string() == "default") return {};
  const std::string_view cni = spec["cniType"].as_string();
  const auto supported = cluster["spec"]["cnis"].items();
  if (!cni.empty() && std::ranges::none_of(supported, [&](const Value& one) { return one.as_string() == cni; })) {
    std::vector<std::string> names;
    for (const Value& one : supported) names.push_back(one.str());
    return {.fault = fmt::format("stage1: cannot populate new resource err: cniType not supported in workload cluster; "
                                 "workload cluster CNI(s): [{}], interface cniType requested: {}",
                                 joined(names, " "), cni)};
  }
  Wish wish;
  const std::string name = child_name(interface);
  for (const std::string& family : families_of(interface)) {
    const Value claim =
        claim_of(interface, fmt::format("{}-{}", name, family), family, cluster, json::object({{"kind", Value("network")}}));
    wish.children.emplace(ref_of(claim), claim);
  }
  if (!cni.empty()) wish.children.emplace(fmt::format("{}.{}", kAttachment, name), Value());
  if (spec["attachmentType"].as_string() == "vlan") {
    const Value& site = cluster["spec"]["clusterName"];
    const std::string domain = fmt::format("{}-{}-bd", spec["networkInstance"]["name"].as_string(), site.as_string());
    const Value claim =
        object_of(kVlanClaim, name, annotations_of_child(interface).with("specializer.nephio.org/vlanClaimName", domain))
            .with_path({"spec", "vlanIndex", "name"}, site)
            .with("status", Value::empty_object());
    wish.children.emplace(ref_of(claim), claim);
  }
  return wish;
}

std::vector<Value> owned_by(const Inventory& package, std::string_view kind, const std::string& owner) {
  std::vector<Value> found = package.all(kind);
  std::erase_if(found, [&](const Value& one) { return annotation(one, kOwner) != owner; });
  return found;
}

Value answered_interface(const Value& interface, const Inventory& package) {
  const std::string ref = ref_of(interface);
  json::ArrayBuilder addresses;
  const auto claims = owned_by(package, kIpClaim, ref);
  for (const Value& one : claims) addresses.add(one["status"]);
  Value made = interface;
  if (!claims.empty()) made = made.with_path({"status", "ipClaimStatus"}, addresses.build());
  const auto vlans = owned_by(package, kVlanClaim, ref);
  if (!vlans.empty()) made = made.with_path({"status", "vlanClaimStatus"}, vlans.front()["status"]);
  return made;
}

Wish wish_of_data_network(const Value& network, const Value& cluster) {
  Wish wish;
  for (const Value& pool : network["spec"]["pools"].items()) {
    const std::string name = fmt::format("{}-{}", child_name(network), pool["name"].as_string());
    const Value claim = claim_of(
        network, name, "ipv4", cluster,
        json::object({{"kind", Value("pool")}, {"createPrefix", Value(true)}, {"prefixLength", pool["prefixLength"]}}));
    wish.children.emplace(ref_of(claim), claim);
  }
  return wish;
}

Value answered_data_network(const Value& network, const Inventory& package) {
  json::ArrayBuilder pools;
  for (const Value& pool : network["spec"]["pools"].items()) {
    const std::string name = fmt::format("{}-{}", child_name(network), pool["name"].as_string());
    const Value claim = package.find(fmt::format("{}.{}", kIpClaim, name));
    pools.add(json::object({{"name", pool["name"]}, {"ipClaim", claim["status"]}}));
  }
  return network.with_path({"status", "pools"}, pools.build());
}

/// The routes of a network that an address of it can use: of its own family, through its gateway.
Value routes_through(const Value& network, const std::string& gateway) {
  std::vector<std::string> prefixes;
  for (const Value& table : network["spec"]["routingTables"].items()) {
    for (const Value& one : table["prefixes"].items()) prefixes.push_back(one["prefix"].str());
  }
  const bool is_v6 = gateway.contains(':');
  std::erase_if(prefixes, [&](const std::string& one) { return one.contains(':') != is_v6; });
  std::ranges::sort(prefixes);
  json::ArrayBuilder routes;
  for (const std::string& one : prefixes) routes.add(json::object({{"dst", Value(one)}, {"gw", Value(gateway)}}));
  return routes.build();
}

std::string attachment_config(const Inventory& package, const Value& interface, const Value& cluster) {
  const std::string ref = ref_of(interface);
  json::ArrayBuilder addresses;
  json::ArrayBuilder routes;
  const Value network = package.find(fmt::format("{}.{}", kNetwork, interface["spec"]["networkInstance"]["name"].as_string()));
  for (const Value& claim : owned_by(package, kIpClaim, ref)) {
    const Value& status = claim["status"];
    json::ObjectBuilder address;
    if (!status["prefix"].is_null()) address.add("address", status["prefix"]);
    if (!status["gateway"].is_null()) address.add("gateway", status["gateway"]);
    addresses.add(address.build());
    const Value through = routes_through(network, status["gateway"].str());
    for (const Value& one : through.items()) routes.add(one);
  }
  std::string master = cluster["spec"]["masterInterface"].str();
  for (const Value& vlan : owned_by(package, kVlanClaim, ref)) {
    if (!vlan["status"]["vlanID"].is_null()) master += fmt::format(".{}", vlan["status"]["vlanID"].as_int());
  }
  const std::string cni = interface["spec"]["cniType"].str();
  Value ipam = json::object({{"type", Value("static")}, {"addresses", addresses.build()}});
  if (const Value all = routes.build(); !all.empty()) ipam = ipam.with("routes", all);
  const Value plugin = json::object({{"type", Value(cni)},
                                     {"capabilities", json::object({{"ips", Value(true)}})},
                                     {"master", Value(master)},
                                     {"mode", Value(cni == "ipvlan" ? "l2" : "bridge")},
                                     {"ipam", ipam}});
  return json::print(json::object({{"cniVersion", Value("0.3.1")}, {"plugins", json::array({plugin})}}));
}

/// Whose attachment a condition is about: its reason says it.
Value interface_of(const Inventory& package, const Value& condition) { return package.find(condition["reason"].str()); }

/// What owners of any kind have, as a deployment of a network function takes it over.
Value deployment_spec(const Inventory& package, const Value& deployment) {
  const std::string ref = ref_of(deployment);
  Value spec = deployment["spec"];
  json::ArrayBuilder interfaces;
  std::map<std::string, Value> instances;
  const auto instance = [&](const Value& object) -> Value& {
    const std::string name = object["spec"]["networkInstance"]["name"].str();
    return instances.try_emplace(name, json::object({{"name", Value(name)}})).first->second;
  };
  const auto add = [](Value& to, const char* list, const Value& one) {
    json::ArrayBuilder all;
    for (const Value& there : to[list].items()) all.add(there);
    all.add(one);
    to = to.with(list, all.build());
  };
  for (const Value& one : owned_by(package, kInterface, ref)) {
    Value made = json::object({{"name", one["metadata"]["name"]}});
    for (const Value& claim : one["status"]["ipClaimStatus"].items()) {
      const std::string prefix = claim["prefix"].str();
      made = made.with(prefix.contains(':') ? "ipv6" : "ipv4",
                       json::object({{"address", Value(prefix)}, {"gateway", claim["gateway"]}}));
    }
    const Value& vlan = one["status"]["vlanClaimStatus"]["vlanID"];
    if (!vlan.is_null()) made = made.with("vlanID", vlan);
    interfaces.add(made);
    add(instance(one), "interfaces", one["metadata"]["name"]);
  }
  for (const Value& one : owned_by(package, kDataNetwork, ref)) {
    json::ArrayBuilder pools;
    for (const Value& pool : one["status"]["pools"].items()) {
      pools.add(json::object({{"prefix", pool["ipClaim"]["prefix"]}}));
    }
    add(instance(one), "dataNetworks", json::object({{"name", one["metadata"]["name"]}, {"pool", pools.build()}}));
  }
  json::ArrayBuilder networks;
  for (const auto& [name, one] : instances) networks.add(one);
  spec = spec.with("interfaces", interfaces.build()).with("networkInstances", networks.build());
  for (const Value& one : owned_by(package, kCapacity, ref)) spec = spec.with("capacity", one["spec"]);
  return spec;
}

}  // namespace

void allocate_addresses(Inventory& package) {
  for (const Value& claim : package.all(kIpClaim)) {
    if (annotation(claim, kDelete) == "true") continue;
    const std::string_view kind = claim["spec"]["kind"].as_string();
    Value status = json::object({{"prefix", Value("10.0.0.10/24")}, {"gateway", Value("10.0.0.1")}});
    if (kind == "loopback") status = json::object({{"prefix", Value("172.0.0.10/32")}});
    if (kind == "pool") {
      status = json::object({{"prefix", Value(fmt::format("172.0.0.0/{}", claim["spec"]["prefixLength"].as_int()))}});
    }
    package.put(claim.with("status", status));
    package.say(ref_of(claim), true, kDone);
  }
}

void allocate_vlans(Inventory& package) {
  for (const Value& claim : package.all(kVlanClaim)) {
    package.put(claim.with("status", json::object({{"vlanID", Value(10)}})));
    package.say(ref_of(claim), true, kDone);
  }
}

void specialize_interfaces(Inventory& package) {
  Choreography(package, kInterface, {kIpClaim, kVlanClaim}).run(wish_of_interface, answered_interface);
}

void specialize_data_networks(Inventory& package) {
  Choreography(package, kDataNetwork, {kIpClaim}).run(wish_of_data_network, answered_data_network);
}

void make_attachments(Inventory& package) {
  const ClusterOf found = cluster_of(package);
  if (found.cluster.is_null()) return;
  const std::vector<Value> conditions = package.conditions();
  for (const Value& one : conditions) {
    const std::string type = one["type"].str();
    if (name_in(type, kAttachment).empty()) continue;
    const Value interface = interface_of(package, one);
    if (interface.is_null()) {
      package.say(type, false, "expected Interface object to generate the nad");
      continue;
    }
    const std::string deployment = last_part(annotation(interface, kOwner));
    const std::string space = annotation(interface, kNamespace);
    if (deployment.empty() || space.empty()) {
      package.say(type, false,
                  fmt::format("expecting a for name and for namespace, got forName: {}, forNamespace: {}", deployment, space));
      continue;
    }
    const Value made = object_of(kAttachment, child_name(interface), json::object({{kOwner, Value(ref_of(interface))}}))
                           .with_path({"metadata", "namespace"}, space)
                           .with_path({"spec", "config"}, attachment_config(package, interface, found.cluster));
    package.put(made);
    package.say(type, true, kDone);
  }
}

void specialize_deployments(Inventory& package) {
  for (const Value& deployment : package.all(kDeployment)) {
    const std::string ref = ref_of(deployment);
    package.add_gate(kSpecialize);
    if (package.condition(kSpecialize).is_null()) package.say(kSpecialize, false, "not ready", "Specialize");
    if (package.condition(ref).is_null()) package.say(ref, false, "update for condition");
    bool is_complete = true;
    for (const std::string_view kind : {kCapacity, kDataNetwork, kDependency, kInterface}) {
      for (const Value& child : owned_by(package, kind, ref)) {
        const std::string type = ref_of(child);
        const bool is_local = kind == kCapacity;
        if (package.condition(type).is_null() || (is_local && !package.is_true(type))) {
          package.say(type, is_local, is_local ? "child local resource -> done" : "create initial resource condition", ref);
        }
        is_complete &= package.is_true(type);
      }
    }
    if (!is_complete) continue;
    package.put(deployment.with("spec", deployment_spec(package, deployment)));
    package.say(ref, true, kDone);
    package.say(kSpecialize, true, "", "Ready");
  }
}

const std::vector<Actor>& actors() {
  static const std::vector<Actor> kAll{
      {"ipam-fn", allocate_addresses},      {"vlan-fn", allocate_vlans},  {"interface-fn", specialize_interfaces},
      {"dnn-fn", specialize_data_networks}, {"nad-fn", make_attachments}, {"nfdeploy-fn", specialize_deployments}};
  return kAll;
}

Convergence converge(Inventory& package, const std::vector<Actor>& by, int bound) {
  Convergence made;
  for (bool is_still = false; !is_still;) {
    const std::vector<Value> before = package.items();
    for (const Actor& one : by) one.act(package);
    is_still = package.items() == before;
    if (is_still) break;
    if (++made.rounds > bound) return made;
  }
  for (const Value& one : package.conditions()) {
    if (one["status"].as_string() == "True") continue;
    made.waiting.push_back(fmt::format("{}: {}", one["type"].as_string(), one["message"].as_string()));
  }
  made.verdict = made.waiting.empty() ? Verdict::Ready : Verdict::NoProgress;
  return made;
}

}  // namespace slipway::nephio
