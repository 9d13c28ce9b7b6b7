// demo_proxy KUBECONFIG NAMESPACE PORT TARGETS: what a cluster has around its pods, for one namespace. An nginx on the loopback
// that serves its Ingresses, as an ingress controller does (tests/nginx/proxy.h), and the file TARGETS with its running pods
// and their labels for Prometheus (file_sd_configs; Debian's has no discovery through an API server). Ends with SIGTERM, and
// nginx with it.
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "json/text.h"
#include "net/client.h"
#include "os/files.h"
#include "os/real_env.h"
#include "proxy.h"
#include "remote/remote_client.h"

using namespace slipway;

namespace {

/// Labels by names that Prometheus takes.
json::Value labels_of(const kube::Object& pod) {
  json::Value labels = json::object({{"pod", kube::name(pod)}});
  for (const auto& [key, value] : pod["metadata"]["labels"].members()) {
    std::string name(key);
    std::ranges::replace_if(name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
    labels = labels.with(name, value);
  }
  return labels;
}

json::Value targets_of(const client::Informer& pods, const std::string& ns) {
  json::ArrayBuilder targets;
  for (const auto& [key, pod] : pods.objects()) {
    if (key.ns != ns || pod["status"]["phase"].as_string() != "Running") continue;
    const std::int64_t port = pod["spec"]["containers"].item(0)["ports"].item(0)["containerPort"].as_int();
    targets.add(json::object({{"targets", json::array({fmt::format("{}:{}", pod["status"]["podIP"].as_string(), port)})},
                              {"labels", labels_of(pod)}}));
  }
  return targets.build();
}

int serve(const remote::Connection& connection, os::RealEnv& real, char** words) {
  const std::string ns = words[2], file = words[4];
  Env& env = real.env();
  remote::RemoteClient client(env, connection, {}, remote::RemoteClient::over_sockets(env, connection));
  const auto http = std::move(net::Client::make(env, {}).value());
  nginx::Proxy proxy(env, client, *http, nginx::Routes::Ingresses, ns, static_cast<unsigned short>(std::atoi(words[3])));
  client::Informer pods(env, client, {"", "v1", "pods"});
  std::string written;
  pods.add_handler([&](const json::Value&, const json::Value&) {
    const std::string text = json::print(targets_of(pods, ns));
    if (text != written && env.files.write(file, text, 0644)) written = text;
  });
  Tasks tasks(env);
  tasks.spawn(proxy.run());
  tasks.spawn(pods.run());
  real.on_signal({SIGTERM, SIGINT}, [&real](int) { real.stop(); });
  real.run();
  real.shut();
  fmt::print("{} configurations\n{}", proxy.version(), proxy.log());
  return 0;
}

}  // namespace

int main(int count, char** words) {
  if (count != 5) {
    fmt::print(stderr, "usage: demo_proxy KUBECONFIG NAMESPACE PORT TARGETS\n");
    return 2;
  }
  if (!nginx::program()) {
    fmt::print(stderr, "demo_proxy: there is no nginx here (Debian package nginx-light)\n");
    return 1;
  }
  os::RealEnv real({.log_level = LogLevel::Error});
  const auto text = os::read_file(words[1]);
  const auto connection = text ? remote::read_kubeconfig(real.env().files, *text, ".", "") : fail(text.error());
  if (!connection) {
    fmt::print(stderr, "demo_proxy: {}: {}\n", words[1], connection.error().message);
    return 1;
  }
  return serve(*connection, real, words);
}
