#include "workload_world.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>

#include "cluster/admission.h"
#include "cluster/cluster.h"
#include "cluster/names.h"
#include "cluster/placement.h"
#include "cluster/pod_facts.h"
#include "json/text.h"
#include "kube/builtin.h"

namespace slipway::workloads_test {

namespace {

using client::Verb;
using kube::Resource;
using std::chrono::milliseconds;

constexpr int kNodes = 5;
constexpr Duration kTick = milliseconds{50};
constexpr Duration kLongest = std::chrono::seconds{200};

const kube::ResourceType& type_of(std::string_view plural) {
  static const std::vector<kube::ResourceType> kTypes = kube::builtin_types();
  const auto found = std::ranges::find_if(kTypes, [&](const auto& type) { return type.resource.plural == plural; });
  SLIPWAY_CHECK(found != kTypes.end(), "a resource of the recordings is built in");
  return *found;
}

client::PatchType patch_type(std::string_view name) {
  return name == "strategic" ? client::PatchType::StrategicMerge : client::PatchType::Merge;
}

/// The hash of the pod's template; empty for a pod that has none.
std::string_view hash_of(const kube::Object& object) {
  for (const char* key : {"pod-template-hash", "controller.kubernetes.io/hash", "controller-revision-hash"}) {
    const auto label = kube::label(object, key);
    if (label.empty()) continue;
    // A pod of a StatefulSet has the name of the revision there.
    const bool is_name = !kube::label(object, cluster::kPodIndex).empty();
    return is_name ? label.substr(label.rfind('-') + 1) : label;
  }
  return {};
}

/// What a refusal says, but for its sentences, which print Go's structs. Some 500s of the real server have no reason.
std::string gist_of(const Value& status, const Value& causes) {
  std::string text = std::to_string(status["code"].as_int());
  if (text != "500") text += " " + status["reason"].str();
  for (const Value& cause : causes.items()) {
    text += fmt::format(" {} {}", cause["reason"].as_string(), cause["field"].as_string());
  }
  return text;
}

Value fake_node(int number) {
  const std::string name = fmt::format("fake-{}", number);
  const Value room = json::object({{"cpu", "32"}, {"memory", "256Gi"}, {"pods", "110"}});
  const Value ready = json::object({{"type", "Ready"}, {"status", "True"}, {"reason", "KubeletReady"}});
  const Value labels = json::object({{"kubernetes.io/hostname", name},
                                     {"kubernetes.io/os", "linux"},
                                     {"topology.kubernetes.io/zone", fmt::format("zone-{}", number)}});
  return json::object(
      {{"apiVersion", "v1"},
       {"kind", "Node"},
       {"metadata", json::object({{"name", name}, {"labels", labels}})},
       {"status", json::object({{"capacity", room}, {"allocatable", room}, {"conditions", json::array({ready})}})}});
}

std::multiset<std::string> plain_states_of(const PodStates& states) {
  std::multiset<std::string> plain;
  for (const auto& [name, state] : states) plain.insert(plain_state(state));
  return plain;
}

}  // namespace

WorkloadWorld::WorkloadWorld() : env_(ManualEnv::Options{.vfs = disk_.vfs()}), changed_(env_.steady()) {
  store_ = std::move(store::Store::open(env_, {.path = "/data/cluster.db"}).value());
  server::Options options;
  options.admission = cluster::admission_rows();
  server_ = std::make_unique<server::Server>(env_, *store_, options);
  SLIPWAY_CHECK(env_.run(server_->start()).has_value(), "the server starts");
  for (Value& definition : cluster::cluster_definitions()) {
    const auto applied = env_.run(client::apply(*server_, cluster::kDefinitions, std::move(definition), "test"));
    SLIPWAY_CHECK(applied.has_value(), "the definitions of the cluster");
  }
  add_nodes();
  const Value ns =
      json::object({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", json::object({{"name", kNamespace}})}});
  SLIPWAY_CHECK(env_.run(client::create(*server_, cluster::kNamespaces, ns, "test")).has_value(), "a namespace");
  pods_ = std::make_unique<PodPlayer>(env_);
  clusters_ = std::make_unique<control::OneCluster>("local", *server_);
  runtime_ = std::make_unique<control::Runtime>(env_, *clusters_);
  cluster::add_cluster_controllers(env_, *runtime_, "local", {pods_.get()});
  runtime_->start();
  for (const char* name : {"pods", "replicasets", "controllerrevisions", "statefulsets", "daemonsets", "deployments", "jobs",
                           "persistentvolumeclaims", "endpointslices", "poddisruptionbudgets", "cronjobs"}) {
    watch(type_of(name).resource);
  }
  env_.run_until_idle();
}

WorkloadWorld::~WorkloadWorld() {
  env_.drop_all();
  runtime_.reset();
  informers_.clear();
}

void WorkloadWorld::add_nodes() {
  SLIPWAY_CHECK(env_.run(client::remove(*server_, cluster::kNodes, {"", std::string(cluster::kNodeName)})).has_value(),
                "the node that every cluster has");
  for (int i = 0; i < kNodes; ++i) {
    SLIPWAY_CHECK(env_.run(client::create(*server_, cluster::kNodes, fake_node(i), "test")).has_value(), "a node");
  }
}

void WorkloadWorld::watch(const Resource& resource) {
  informers_.push_back(std::make_unique<client::Informer>(env_, *server_, resource));
  informers_.back()->add_handler([this](const Value& before, const Value& after) { see(before, after); });
  env_.spawn(informers_.back()->run());
}

void WorkloadWorld::see(const Value& before, const Value& after) {
  const Value& object = after.is_null() ? before : after;
  if (kube::ns(object) != kNamespace) return;
  changed_ = env_.steady();
  const auto kind = kube::kind(object);
  if (kind == "ReplicaSet" || kind == "ControllerRevision") note_hash(object);
  if (kind == "EndpointSlice") note_name(slices_, object);
  if (kind == "Job" && kube::refers_to(kube::controller_of(object), "batch", "CronJob")) note_name(jobs_, object);
  if (kind == "Pod") see_pod(before, after);
}

void WorkloadWorld::note_hash(const Value& object) {
  const std::string hash(hash_of(object));
  if (!hash.empty() && std::ranges::find(hashes_, hash) == hashes_.end()) hashes_.push_back(hash);
}

void WorkloadWorld::note_name(std::vector<std::string>& names, const Value& object) {
  if (std::ranges::find(names, kube::name(object)) == names.end()) names.emplace_back(kube::name(object));
}

void WorkloadWorld::see_pod(const Value& before, const Value& after) {
  const Value& pod = after.is_null() ? before : after;
  note_hash(pod);
  const std::string uid(kube::uid(pod));
  if (!names_.contains(uid)) {
    const std::string name = name_of(pod);
    names_[uid] = name;
    pod_by_label_[name] = kube::name(pod);
    ++counters_[name.contains('#') ? name.substr(0, name.find('#')) : "p"];
  }
  order_.push_back(names_[uid] + " " + (after.is_null() ? "gone" : state_of(after)));
  if (after.is_null()) {
    live_.erase(uid);
  } else {
    live_[uid] = after;
  }
  count();
}

/// Pods of a StatefulSet and those without a controller have their own names, others are numbered as they appear.
std::string WorkloadWorld::name_of(const kube::Object& pod) const {
  const auto known = names_.find(std::string(kube::uid(pod)));
  if (known != names_.end()) return known->second;
  const Value& owner = kube::controller_of(pod);
  if (owner.is_null() || kube::refers_to(owner, "apps", "StatefulSet")) return std::string(kube::name(pod));
  std::string base = "p";
  if (kube::refers_to(owner, "apps", "DaemonSet")) base = cluster::target_node(pod);
  if (const auto job = std::ranges::find(jobs_, owner["name"].as_string()); job != jobs_.end()) {
    return fmt::format("j{}.p0", job - jobs_.begin());
  }
  const auto index = kube::annotation(pod, cluster::kCompletionIndex);
  if (!index.empty()) base = fmt::format("i{}", index);
  const auto counted = counters_.find(base);
  return fmt::format("{}{}{}", base, base == "p" ? "" : "#", counted == counters_.end() ? 0 : counted->second);
}

std::string WorkloadWorld::state_of(const kube::Object& pod) const {
  std::string state;
  const auto hash = std::ranges::find(hashes_, hash_of(pod));
  if (hash != hashes_.end()) state = std::to_string(hash - hashes_.begin());
  state += pod["status"]["phase"].str().substr(0, 1);
  if (kube::is_true(pod, "Ready")) state += "+";
  if (kube::is_deleting(pod)) state += "~";
  if (!pod["spec"].has("nodeName")) state += "u";
  if (kube::is_true(pod, "DisruptionTarget")) state += "!";
  if (kube::controller_of(pod).is_null()) state += "o";
  return state;
}

void WorkloadWorld::begin_bounds() {
  bounds_.push_back({0, 0, INT64_MAX, INT64_MAX});
  count();
}

void WorkloadWorld::count() {
  if (bounds_.empty()) return;
  std::int64_t pods = 0;
  std::int64_t active = 0;
  std::int64_t ready = 0;
  for (const auto& [uid, pod] : live_) {
    if (cluster::is_terminal_pod(pod)) continue;
    ++pods;
    if (kube::is_deleting(pod)) continue;
    ++active;
    if (kube::is_true(pod, "Ready")) ++ready;
  }
  Bounds& bounds = bounds_.back();
  bounds.max_pods = std::max(bounds.max_pods, pods);
  bounds.max_active = std::max(bounds.max_active, active);
  bounds.min_active = std::min(bounds.min_active, active);
  bounds.min_ready = std::min(bounds.min_ready, ready);
}

std::string WorkloadWorld::resolve(std::string text) const {
  std::size_t index = 0;
  if (RE2::FullMatch(text, R"(\$EPS\(eps(\d+)\))", &index) && index < slices_.size()) return slices_[index];
  if (RE2::FullMatch(text, R"(\$JOB\(j(\d+)\))", &index) && index < jobs_.size()) return jobs_[index];
  std::string found;
  if (RE2::FullMatch(text, R"(\$\w+\((.*)\))", &found)) {
    const auto pod = pod_by_label_.find(found);
    return pod == pod_by_label_.end() ? text : pod->second;
  }
  if (RE2::PartialMatch(text, R"(\$H(\d+))", &index) && index < hashes_.size())
    RE2::Replace(&text, R"(\$H\d+)", hashes_[index]);
  return text;
}

Result<client::Reply> WorkloadWorld::call(const Value& step) {
  client::Request request;
  const kube::ResourceType& type = type_of(step.has("resource") ? step["resource"].as_string() : "pods");
  request.resource = type.resource;
  request.field_manager = "test";
  if (type.is_namespaced) request.ns = kNamespace;
  request.name = resolve(step["name"].str());
  const auto action = step["do"].as_string();
  if (action == "create") {
    request.verb = Verb::Create;
    request.body = step["object"];
    if (!request.ns.empty()) request.body = request.body.with_path({"metadata", "namespace"}, request.ns);
    request.name.clear();
    if (!request.body.has("kind")) {
      request.body = request.body.with("apiVersion", type.resource.version).with("kind", type.kind.kind);
    }
  } else if (action == "patch") {
    request.verb = Verb::Patch;
    request.body = step["patch"];
    request.patch_type = patch_type(step["type"].as_string());
    request.subresource = step["subresource"].str();
  } else if (action == "delete") {
    request.verb = Verb::Delete;
    if (step.has("options")) request.body = step["options"].with("apiVersion", "v1").with("kind", "DeleteOptions");
  } else {
    request.verb = Verb::Create;
    request.subresource = "eviction";
    request.body = json::object({{"apiVersion", "policy/v1"},
                                 {"kind", "Eviction"},
                                 {"metadata", json::object({{"name", request.name}, {"namespace", request.ns}})}});
    if (step.has("options")) request.body = request.body.with("deleteOptions", step["options"]);
  }
  return env_.run(server_->call(request));
}

std::string WorkloadWorld::send(const Value& step) {
  begin_bounds();
  const auto reply = call(step);
  changed_ = env_.steady();
  const Value& expected = step["response"];
  const bool was_refused = expected["code"].as_int() >= 400;
  const std::string wanted = was_refused ? gist_of(expected, expected["causes"]) : "accepted";
  const Value status = reply ? Value() : kube::to_json(reply.error());
  const std::string found = reply ? "accepted" : gist_of(status, status["details"]["causes"]);
  return found == wanted ? "" : fmt::format("{}, but was {}", found, wanted);
}

void WorkloadWorld::settle(Duration quiet) {
  const Steady end = env_.steady() + kLongest;
  env_.run_until_idle();
  while (env_.steady() - changed_ < quiet && env_.steady() < end) env_.advance(kTick);
}

std::multiset<std::string> WorkloadWorld::plain_states() const {
  std::multiset<std::string> states;
  for (const auto& [uid, pod] : live_) states.insert(plain_state(state_of(pod)));
  return states;
}

bool WorkloadWorld::await(const PodStates& states, Duration limit) {
  const std::multiset<std::string> wanted = plain_states_of(states);
  return env_.run_until([&] { return plain_states() == wanted; }, limit);
}

bool WorkloadWorld::await_progress(const PodStates& before, const PodStates& states, Duration limit) {
  const std::multiset<std::string> start = plain_states_of(before);
  const std::multiset<std::string> wanted = plain_states_of(states);
  const auto changed = [&](const std::multiset<std::string>& now) {
    std::vector<std::string> different;
    std::ranges::set_difference(now, start, std::back_inserter(different));
    return different.size();
  };
  return env_.run_until(
      [&] {
        const auto now = plain_states();
        return now == wanted || changed(now) > changed(wanted);
      },
      limit);
}

std::vector<Value> WorkloadWorld::list(const Resource& resource) {
  std::vector<Value> items;
  const auto found = env_.run(client::list(*server_, resource, {.ns = kNamespace, .label_selector = "", .field_selector = ""}));
  SLIPWAY_CHECK(found.has_value(), "a list");
  for (const Value& item : (*found)["items"].items()) items.push_back(item);
  return items;
}

std::string WorkloadWorld::normalise(std::string text) const {
  static const RE2 kUid(R"([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})");
  static const RE2 kTime(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z)");
  static const RE2 kServiceAddress(R"x(("clusterIPs?":\[?)"\d+\.\d+\.\d+\.\d+")x");
  static const RE2 kAddress(R"x("\d+\.\d+\.\d+\.\d+")x");
  const auto replace = [&](std::string_view from, const std::string& to) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
      text.replace(at, from.size(), to);
    }
  };
  replace(fmt::format(" {}/", kNamespace), " $NS/");
  for (const auto& [label, name] : pod_by_label_) {
    if (label != name) replace(name, "$POD");
  }
  for (std::size_t i = 0; i < hashes_.size(); ++i) replace(hashes_[i], fmt::format("$H{}", i));
  for (const std::string& slice : slices_) replace(slice, "$EPS");
  for (const std::string& job : jobs_) replace(job, "$JOB");
  replace(fmt::format(R"("namespace":"{}")", kNamespace), R"("namespace":"$NS")");
  RE2::GlobalReplace(&text, kServiceAddress, R"(\1"$CIP")");
  RE2::GlobalReplace(&text, kAddress, R"("$IP")");
  RE2::GlobalReplace(&text, kUid, "$UID");
  RE2::GlobalReplace(&text, kTime, "$T");
  return text;
}

}  // namespace slipway::workloads_test
