#include "oracle_plane.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "client/client.h"
#include "json/text.h"
#include "kube/object.h"
#include "kube/well_known.h"
#include "oracle_status.h"
#include "plane/store_view.h"
#include "server/registry.h"

namespace slipway::oracle_test {

namespace {

constexpr const char* kManager = "kubectl-client-side-apply";
constexpr Duration kLongest = std::chrono::hours{1};

}  // namespace

const Image& image() {
  static const Image kImage = Image::settled();
  return kImage;
}

Value yaml(const std::string& text) {
  auto value = json::parse_yaml(text);
  EXPECT_TRUE(value) << (value ? "" : value.error().message) << "\n" << text;
  return value ? *value : Value();
}

Image Image::settled() {
  Plane plane(nullptr);
  plane.make_namespace("vela-system");
  SLIPWAY_CHECK(plane.pass(std::chrono::minutes{1}), "a plane without work does not come to rest");
  return plane.image();
}

Plane::Plane(const Image* image, PlaneOptions plane_options) {
  if (image) disk_.restore(image->disk);
  env_ = std::make_unique<ManualEnv>(ManualEnv::Options{
      .start = image ? image->time : VirtualClock::kStart, .vfs = disk_.vfs(), .metrics = plane_options.metrics});
  if (plane_options.prepare) plane_options.prepare(*env_);
  controllers_ = std::make_unique<plane::Controllers>(*env_, nullptr);
  std::vector<std::string> clusters = {kHub, kWorker};
  std::ranges::copy(plane_options.clusters, std::back_inserter(clusters));
  for (const std::string& cluster : clusters) {
    plane::ApiServer::Options options;
    options.store.path = fmt::format("/data/{}.db", cluster);
    options.on_fault = plane_options.on_fault;
    options.family_options = plane_options.family_options;
    if (!plane_options.has_families) options.families = {};
    auto api = env_->run(plane::ApiServer::open(*env_, options));
    SLIPWAY_CHECK(api, api ? "" : api.error().message.c_str());
    plane::Controllers::Options controllers;
    controllers.pods = plane::PodRuntimeKind::Simulated;
    controllers.keeps_definitions = plane_options.keeps_definitions && cluster == kHub;
    controllers.http = plane_options.http;
    controllers.acts_as = plane_options.acts_as;
    controllers.family_options = plane_options.family_options;
    if (!plane_options.has_families) controllers.families = {};
    controllers_->add(cluster, (*api)->server(), std::move(controllers));
    apis_.emplace(cluster, std::move(*api));
  }
  controllers_->start();
}

Plane::~Plane() { close(); }

void Plane::close() {
  env_->drop_all();
  controllers_.reset();
  apis_.clear();
}

Image Plane::image() {
  const Time time = env_->now();
  for (auto& [cluster, api] : apis_) env_->run(api->close());
  close();
  return {.disk = disk_.snapshot(), .time = time};
}

void Plane::make_namespace(const std::string& name) {
  for (const auto& [cluster, api] : apis_) {
    const Value object =
        json::object({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", json::object({{"name", name}})}});
    const auto made = env_->run(client::create(api->server(), kube::kNamespaces, object, kManager));
    SLIPWAY_CHECK(made || made.error().reason == Reason::AlreadyExists, "a namespace cannot be made");
  }
}

std::string Plane::apply(const Value& object, const std::string& default_namespace,
                         const std::shared_ptr<const kube::UserInfo>& user) {
  const auto kind = kube::GroupVersionKind::of(object);
  if (!kind) return kind.error().message;
  const auto type = server(kHub).registry().find_kind(*kind);
  if (!type) return type.error().message;
  client::Request request;
  request.verb = client::Verb::Create;
  request.resource = (*type)->resource;
  request.body = object;
  request.user = user;
  request.field_manager = kManager;
  request.field_validation = "Strict";
  if ((*type)->is_namespaced) {
    request.ns = kube::ns(object).empty() ? default_namespace : std::string(kube::ns(object));
    request.body = object.with_path({"metadata", "namespace"}, request.ns);
  }
  auto made = env_->run(server(kHub).call(request));
  if (!made && made.error().reason == Reason::AlreadyExists) {
    request.verb = client::Verb::Patch;
    request.name = kube::name(object);
    made = env_->run(server(kHub).call(request));
  }
  if (made) warnings_ = std::move(made->warnings);
  return made ? "" : made.error().message;
}

client::Request Plane::request_for(const Value& reference) const {
  client::Request request;
  const auto kind = kube::GroupVersionKind::of(reference);
  if (!kind) return request;
  const auto type = server(kHub).registry().find_kind(*kind);
  if (!type) return request;
  request.resource = (*type)->resource;
  request.ns = reference["namespace"].str();
  request.name = reference["name"].str();
  request.field_manager = kManager;
  return request;
}

std::string Plane::write_status(const Value& reference, std::optional<client::PatchType> type, const Value& body) {
  client::Request request = request_for(reference);
  request.verb = type ? client::Verb::Patch : client::Verb::Update;
  request.subresource = "status";
  if (type) request.patch_type = *type;
  request.body = body;
  const auto made = env_->run(server(kHub).call(request));
  return made ? "" : made.error().message;
}

std::string Plane::merge(const Value& reference, const Value& patch, const std::shared_ptr<const kube::UserInfo>& user,
                         const std::string& subresource) {
  client::Request request = request_for(reference);
  request.verb = client::Verb::Patch;
  request.patch_type = client::PatchType::Merge;
  request.body = patch;
  request.user = user;
  request.subresource = subresource;
  const auto made = env_->run(server(kHub).call(request));
  return made ? "" : made.error().message;
}

Result<Value> Plane::call(const std::string& cluster, client::Request request) {
  auto made = env_->run(server(cluster).call(std::move(request)));
  if (!made) return fail(std::move(made).error());
  return made->object;
}

Value Plane::store(const std::string& cluster, const Value& object, const std::string& manager) {
  const auto kind = kube::GroupVersionKind::of(object);
  const auto type = kind ? server(cluster).registry().find_kind(*kind) : fail(kind.error());
  SLIPWAY_CHECK(type, json::print(object).c_str());
  client::Request request;
  request.verb = client::Verb::Create;
  request.resource = (*type)->resource;
  request.ns = kube::ns(object);
  request.body = object;
  request.field_manager = manager;
  const bool is_stored = object["metadata"].has("resourceVersion");
  Result<Value> made = is_stored ? Result<Value>(object) : call(cluster, request);
  if (!made && made.error().reason == Reason::AlreadyExists) {
    request.verb = client::Verb::Update;
    request.name = kube::name(object);
    made = call(cluster, request);
  }
  if (made && object.has("status") && (*type)->has_status) {
    request.verb = client::Verb::Update;
    request.name = kube::name(*made);
    request.subresource = "status";
    request.body = made->with("status", object["status"]);
    made = call(cluster, request);
  }
  SLIPWAY_CHECK(made, (made ? std::string() : made.error().message + ": " + json::print(object)).c_str());
  return *made;
}

std::string Plane::remove(const Value& reference) {
  client::Request request = request_for(reference);
  request.verb = client::Verb::Delete;
  const auto made = env_->run(server(kHub).call(request));
  return made ? "" : made.error().message;
}

std::string Plane::act(const Value& reference, const std::string& verb, const std::string& part) {
  const client::Request request = request_for(reference);
  const auto kind = kube::GroupVersionKind::of(reference);
  const delivery::Action* action = kind ? plane::find_action(plane::find_row(kind->group, kind->kind), verb) : nullptr;
  if (action == nullptr) return "there is no such action";
  const auto done = env_->run(action->run({.env = *env_,
                                           .client = server(kHub),
                                           .resource = request.resource,
                                           .key = {request.ns, request.name},
                                           .part = part,
                                           .options = {}}));
  return done ? "" : done.error().message;
}

bool Plane::pass(Duration time) {
  const Steady end = env_->steady() + time;
  const auto is_spent = [&] {
    observe_change();
    return calls() > kMostCalls;
  };
  if (env_->run_until(is_spent, time)) return false;
  env_->advance(end - env_->steady());
  return true;
}

void Plane::observe_change() {
  if (!observer_) return;
  const kube::Revision now = apis_.at(kHub)->store().revision();
  if (std::exchange(observed_, now) != now) observer_();
}

Value Plane::find(const std::string& cluster, const Value& reference) const {
  const auto api = apis_.find(cluster);
  if (api == apis_.end()) return {};
  return plane::StoreView(api->second->server(), api->second->store(), env_->now()).find(reference);
}

std::vector<Value> Plane::all(const std::string& cluster, const std::string& ns) const {
  plane::ApiServer& api = *apis_.at(cluster);
  const plane::StoreView view(api.server(), api.store(), env_->now());
  std::vector<Value> found;
  for (const server::TypePtr& type : api.server().registry().all()) {
    if (type->is_namespaced == ns.empty()) continue;
    for (Value& object : view.all(type->kind, ns)) {
      found.push_back(std::move(object));
    }
  }
  return found;
}

std::vector<Value> Plane::all_of(const std::string& cluster, const kube::GroupVersionKind& kind, const std::string& ns) const {
  plane::ApiServer& api = *apis_.at(cluster);
  return plane::StoreView(api.server(), api.store(), env_->now()).all(kind, ns);
}

std::vector<std::string> Plane::events() const {
  plane::ApiServer& api = *apis_.at(kHub);
  std::vector<std::string> lines;
  for (const Value& event : plane::StoreView(api.server(), api.store(), env_->now()).all({"", "v1", "Event"}, "")) {
    const Value& about = event["involvedObject"];
    lines.push_back(fmt::format("{} {} {}/{}: {}", event["type"].as_string(), event["reason"].as_string(),
                                about["kind"].as_string(), about["name"].as_string(), event["message"].as_string()));
  }
  return lines;
}

End await_end(Plane& plane, const Value& target) {
  End end;
  const Time begin = plane.now();
  Time changed = begin;
  std::string seen;
  while (plane.now() - begin < kLongest && !end.is_stable) {
    if (!plane.pass(std::chrono::seconds{1})) break;
    end.target = plane.find(kHub, target);
    std::string state = json::print(digest_of(end.target));
    if (state != seen) {
      seen = std::move(state);
      changed = plane.now();
    }
    end.is_stable = plane.now() - changed >= rest_of(phase_of(end.target));
  }
  end.took = plane.now() - begin;
  end.calls = plane.calls();
  return end;
}

}  // namespace slipway::oracle_test
