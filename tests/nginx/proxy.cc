#include "proxy.h"

#include <fmt/format.h>

#include "control/object_writes.h"

namespace slipway::nginx {
namespace {

using json::Value;

const kube::Resource kServices{"", "v1", "services"};
const kube::Resource kSlices{"discovery.k8s.io", "v1", "endpointslices"};

kube::Resource resource_of(Routes routes) {
  switch (routes) {
    case Routes::Ingresses:
      return {"networking.k8s.io", "v1", "ingresses"};
    case Routes::HttpRoutes:
      return {"gateway.networking.k8s.io", "v1", "httproutes"};
  }
  return {};
}

Value condition(std::string_view type, const kube::Object& route) {
  return json::object({{"type", type},
                       {"status", "True"},
                       {"reason", type},
                       {"message", ""},
                       {"observedGeneration", kube::generation(route)},
                       {"lastTransitionTime", route["metadata"]["creationTimestamp"]}});
}

Value accepted(const kube::Object& route) {
  const Value conditions = json::array({condition("Accepted", route), condition("ResolvedRefs", route)});
  return json::object({{"parents", json::array({json::object({{"controllerName", "example.org/demo-proxy"},
                                                              {"parentRef", route["spec"]["parentRefs"].item(0)},
                                                              {"conditions", conditions}})})}});
}

}  // namespace

Proxy::Proxy(Env& env, client::Client& client, HttpClient& http, Routes routes, std::string ns, unsigned short port)
    : env_(env),
      client_(client),
      http_(http),
      ns_(std::move(ns)),
      port_(port),
      kind_(routes),
      routes_(env, client, resource_of(routes)),
      services_(env, client, kServices),
      slices_(env, client, kSlices),
      changed_(env),
      tasks_(env) {}

void Proxy::follow(client::Informer& informer) {
  informer.add_handler([this](const Value& before, const Value& after) {
    if (kube::ns(after.is_null() ? before : after) != ns_) return;
    is_stale_ = true;
    changed_.notify();
  });
  tasks_.spawn(informer.run());
}

Task<> Proxy::run() {
  for (client::Informer* informer : {&routes_, &services_, &slices_}) follow(*informer);
  for (client::Informer* informer : {&routes_, &services_, &slices_}) co_await informer->wait_synced();
  for (;;) {
    if (!is_stale_) co_await changed_.wait();
    is_stale_ = false;
    is_serving_ = false;
    const Site seen = site();
    if (!co_await serve(seen)) continue;
    is_serving_ = true;
    if (kind_ == Routes::HttpRoutes) co_await report(seen.objects);
  }
}

Site Proxy::site() const {
  Site site;
  for (const auto& [key, route] : routes_.objects()) {
    if (key.ns == ns_) site.objects.push_back(route);
  }
  for (const auto& [key, service] : services_.objects()) {
    if (key.ns == ns_) site.endpoints[key.name] = {};
  }
  for (const auto& [key, slice] : slices_.objects()) {
    const auto service = site.endpoints.find(std::string(kube::label(slice, "kubernetes.io/service-name")));
    if (key.ns != ns_ || service == site.endpoints.end()) continue;
    for (const Value& endpoint : slice["endpoints"].items()) {
      const Value& conditions = endpoint["conditions"];
      if (!conditions["ready"].as_bool() || conditions["terminating"].as_bool()) continue;
      service->second.push_back(
          fmt::format("{}:{}", endpoint["addresses"].item(0).as_string(), slice["ports"].item(0)["port"].as_int()));
    }
  }
  return site;
}

/// True when nginx serves the site, which may be what it has served before.
Task<bool> Proxy::serve(Site site) {
  const auto text = site_config(site, port_, "");
  if (!text) {
    trouble_ += text.error().message + "\n";
    co_return false;
  }
  if (*text == served_) co_return true;
  served_ = *text;
  const std::string version = std::to_string(++version_);
  const std::string versioned = site_config(site, port_, version).value();
  if (nginx_) {
    nginx_->reload(versioned);
  } else {
    nginx_ = std::make_unique<Process>(versioned);
  }
  for (;;) {
    HttpCall call{.url = fmt::format("http://127.0.0.1:{}/-/version", port_)};
    const auto answer = co_await http_.send(std::move(call));
    if (answer && answer->body == version && !nginx_->has_old_workers()) co_return true;
    co_await sleep_for(env_, std::chrono::milliseconds{2});
  }
}

/// A route that has changed since is a conflict: it is served and reported next.
Task<> Proxy::report(std::vector<Value> routes) {
  for (const Value& route : routes) {
    const Value status = accepted(route);
    if (route["status"] == status) continue;
    const auto written = co_await control::write_status(client_, resource_of(kind_), route, status, "demo-proxy");
    if (!written && written.error().reason != Reason::Conflict) trouble_ += written.error().message + "\n";
  }
}

}  // namespace slipway::nginx
