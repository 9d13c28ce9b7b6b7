// Applications delivered by `slipway controller`, a process of its own, on `slipway up`, another one: how long until all of
// them run, and what one costs in CPU, requests, writes and records. The Application is that of the figures of KubeVela: two
// webservice components with five traits.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <set>

#include "base/check.h"
#include "bench.h"
#include "controller_process.h"
#include "delivery/application/kind.h"
#include "json/text.h"
#include "kube/object.h"
#include "up_process.h"

namespace slipway::bench {
namespace {

using json::Value;
using up::UpProcess;
using up::User;

constexpr std::size_t kApplicationConnections = 16;
constexpr int kSampled = 20;  // applications whose records are read

std::string path_of(const kube::Resource& resource, bool is_namespaced = true) {
  return fmt::format("/apis/{}/{}{}/{}", resource.group, resource.version, is_namespaced ? "/namespaces/default" : "",
                     resource.plural);
}

Value trait(const char* type, Value properties) {
  return json::object({{"type", type}, {"properties", std::move(properties)}});
}

Value application(const std::string& name) {
  using json::array;
  using json::object;
  const auto component = [&](const char* part, Value traits) {
    const Value port = object({{"port", 8000}});
    return object({{"name", fmt::format("{}-{}", name, part)},
                   {"type", "webservice"},
                   {"properties", object({{"image", "oamdev/hello-world"}, {"ports", array({port})}})},
                   {"traits", std::move(traits)}});
  };
  const Value web = component(
      "web", array({trait("scaler", object({{"replicas", 1}})), trait("labels", object({{"tier", "front"}, {"team", "shop"}})),
                    trait("annotations", object({{"about", "measured"}}))}));
  const Value api = component(
      "api", array({trait("expose", object({{"port", array({8000})}, {"type", "ClusterIP"}})),
                    trait("sidecar", object({{"name", "log"}, {"image", "busybox"}, {"cmd", array({"tail", "-f"})}}))}));
  return object({{"apiVersion", delivery::application::kApiVersion},
                 {"kind", delivery::application::kApplicationKind.kind},
                 {"metadata", object({{"name", name}, {"namespace", "default"}})},
                 {"spec", object({{"components", array({web, api})}})}});
}

Requests requests_now(User& user) {
  Requests found;
  user.run([&](User& self) -> Task<> { found = co_await requests_so_far(self); });
  return found;
}

std::string name_of(int number) { return fmt::format("shop-{:05}", number); }

Task<> create_some(User& user, int& next, int end) {
  while (next < end) {
    const Value made = application(name_of(next++));
    const auto answer =
        co_await user.client().send(user.post(path_of(delivery::application::kApplications), json::print(made)));
    SLIPWAY_CHECK(answer.has_value(), answer.error().message);
    SLIPWAY_CHECK(answer->status == 201, answer->body);
  }
}

/// Watches Applications until `count` of them run.
Task<> until_running(User& user, int count, Instant start, std::vector<double>& seconds) {
  HttpCall call = user.get(path_of(delivery::application::kApplications) + "?watch=true&resourceVersion=0");
  call.is_streaming = true;
  auto answer = co_await user.client().send(std::move(call));
  SLIPWAY_CHECK(answer.has_value() && answer->status == 200, "watch refused");
  std::set<std::string> running;
  std::string rest;
  while (running.size() < static_cast<std::size_t>(count)) {
    auto piece = co_await answer->stream->next();
    SLIPWAY_CHECK(piece.has_value() && piece->has_value(), "watch ended early");
    rest += **piece;
    std::size_t line = 0;
    for (std::size_t end; (end = rest.find('\n', line)) != std::string::npos; line = end + 1) {
      const auto event = json::parse(std::string_view(rest).substr(line, end - line));
      SLIPWAY_CHECK(event.has_value(), "no JSON in a watch");
      const Value object = (*event)["object"];
      if (object["status"]["status"].as_string() != "running") continue;
      if (running.insert(std::string(kube::name(object))).second) seconds.push_back(seconds_since(start));
    }
    rest.erase(0, line);
  }
  answer->stream->close();
}

/// Creates applications `from` up to `to` and waits until all there are run. Gives the seconds at which each did.
std::vector<double> deliver(User& user, int from, int to) {
  std::vector<double> seconds;
  user.run([&](User& self) -> Task<> {
    int next = from;
    const Instant start = tick();
    Tasks tasks(self.env());
    for (std::size_t i = 0; i + 1 < kApplicationConnections; ++i) tasks.spawn(create_some(self, next, to));
    tasks.spawn(until_running(self, to, start, seconds));
    co_await tasks.join();
  });
  return seconds;
}

/// Bytes of stored JSON per application, by record.
std::map<std::string, double> record_bytes(User& user, int sampled) {
  namespace app = delivery::application;
  std::map<std::string, double> bytes;
  user.run([&](User& self) -> Task<> {
    for (int i = 1; i <= sampled; ++i) {
      const std::string name = name_of(i);
      const std::string maps = "/api/v1/namespaces/default/configmaps/";
      bytes["application"] += static_cast<double>((co_await text_of(self, path_of(app::kApplications) + "/" + name)).size());
      bytes["revision"] += static_cast<double>((co_await text_of(self, path_of(app::kRevisions) + "/" + name + "-v1")).size());
      bytes["tracker"] +=
          static_cast<double>((co_await text_of(self, path_of(app::kTrackers, false) + "/" + name + "-v1-default")).size());
      bytes["context"] +=
          static_cast<double>((co_await text_of(self, fmt::format("{}workflow-{}-context", maps, name))).size());
      bytes["resources"] += static_cast<double>((co_await text_of(self, maps + name + "-v1")).size());
    }
  });
  for (auto& [record, sum] : bytes) sum /= sampled;
  return bytes;
}

/// The two processes, with one application already delivered: every definition has been read and compiled.
struct Delivery {
  Delivery(const Settings& settings, const std::string& name)
      : folder(settings.folder + "/" + name),
        server(settings.slipway, fresh(folder), {"--controllers", "cluster"}),
        controller(settings.slipway, folder),
        user(server.access(), kApplicationConnections) {
    deliver(user, 0, 1);
    usleep(1'000'000);
  }
  static const std::string& fresh(const std::string& folder) {
    std::filesystem::remove_all(folder);
    return folder;
  }

  std::string folder;
  UpProcess server;
  ControllerProcess controller;
  User user;
};

void add_requests(Figures& figures, const Requests& before, const Requests& after, int count) {
  const auto each = [&](double sum) { return sum / count; };
  figures["application_requests"] = {each(after.all - before.all) - 1, "", "<= 25",
                                     "requests of the controller per application; KubeVela 71.5"};
  figures["application_writes"] = {each(after.writes - before.writes) - 1, "", "<= 15", "of these, writes"};
  for (const auto& [kind, number] : after.by_kind) {
    const auto earlier = before.by_kind.find(kind);
    const double more = each(number - (earlier == before.by_kind.end() ? 0 : earlier->second));
    if (more >= 0.05) fmt::print("    {:<50} {:>6.2f} per application\n", kind, more);
  }
}

void add_records(Figures& figures, User& user, int sampled) {
  double sum = 0;
  std::string parts;
  for (const auto& [record, bytes] : record_bytes(user, sampled)) {
    sum += bytes;
    parts += fmt::format("{}{} {:.0f}", parts.empty() ? "" : ", ", record, bytes);
  }
  figures["application_record_bytes"] = {sum, "B", "<= 10000", parts + "; KubeVela 24,000"};
}

/// Creates `count` more and tells what that cost.
void add_delivery(Figures& figures, Delivery& delivery, int count, const std::string& suffix) {
  const Requests before = requests_now(delivery.user);
  const double cpu = delivery.controller.cpu_ms();
  const std::string load = load_note();
  const std::vector<double> seconds = deliver(delivery.user, 1, count + 1);
  const std::string all = fmt::format("{} applications, first create to the last one running; {}", count, load);
  figures["application_all_s" + suffix] = {seconds.back(), "s", count == 500 ? "<= 5" : "", all};
  figures["application_p50_s" + suffix] = {median(seconds), "s", "", ""};
  usleep(3'000'000);
  const double used = delivery.controller.cpu_ms() - cpu;
  figures["application_cpu_ms" + suffix] = {used / count, "ms", "<= 5", "CPU of the controller each; KubeVela 231"};
  figures["application_rss_mb" + suffix] = {resident_mb(delivery.controller.pid()), "MB",
                                            count == 500     ? "<= 60"
                                            : count == 12000 ? "<= 300"
                                                             : "",
                                            fmt::format("controller with {}; KubeVela 223 with 500", count)};
  if (count == 500) add_requests(figures, before, requests_now(delivery.user), count);
}

/// What the controller does while nothing happens: five minutes hold one look at each application.
void add_rest(Figures& figures, Delivery& delivery, int count, int window_s, const std::string& suffix) {
  const Instant start = tick();
  const double cpu = delivery.controller.cpu_ms();
  const Requests before = requests_now(delivery.user);
  sleep(static_cast<unsigned>(window_s));
  const double used = delivery.controller.cpu_ms() - cpu;
  const double requests = requests_now(delivery.user).all - before.all;
  figures["application_rest_cores" + suffix] = {
      used / 1000 / seconds_since(start), "", "<= 0.1",
      fmt::format("{} at rest over {} s, {:.0f} requests", count, window_s, requests)};
  figures["application_reconcile_ms" + suffix] = {used / count, "ms", "<= 2", "CPU at rest per application and five minutes"};
}

}  // namespace

Figures measure_applications(const Settings& settings) {
  Figures figures;
  Delivery delivery(settings, "delivery");
  const int count = settings.share_of(500);
  add_delivery(figures, delivery, count, "");
  add_records(figures, delivery.user, std::min(count, kSampled));
  return figures;
}

/// SLIPWAY_APPLICATIONS: how many (default 3,000).
Figures measure_many_applications(const Settings& settings) {
  Figures figures;
  const char* said = std::getenv("SLIPWAY_APPLICATIONS");
  const int count = said == nullptr ? settings.share_of(3000) : std::atoi(said);
  const std::string suffix = fmt::format("_{}", count);
  Delivery delivery(settings, "delivery-rest");
  add_delivery(figures, delivery, count, suffix);
  add_rest(figures, delivery, count, settings.share_of(300), suffix);
  return figures;
}

}  // namespace slipway::bench
