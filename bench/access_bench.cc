// What access control costs the logic thread where there is much of it.
#include <fmt/format.h>

#include <ctime>

#include "base/check.h"
#include "plane_bench.h"

namespace slipway::bench {
namespace {

constexpr int kBindings = 10'000;
constexpr int kWrites = 500;  // at the most
const kube::Resource kRoleBindings{"rbac.authorization.k8s.io", "v1", "rolebindings"};

json::Value binding(int number, int user) {
  return json::object(
      {{"apiVersion", "rbac.authorization.k8s.io/v1"},
       {"kind", "RoleBinding"},
       {"metadata", json::object({{"name", fmt::format("b{}", number)}, {"namespace", "default"}})},
       {"subjects", json::array({json::object({{"kind", "User"}, {"name", fmt::format("u{}", user)}})})},
       {"roleRef", json::object({{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", "ClusterRole"}, {"name", "view"}})}});
}

Task<> create_bindings(PlaneBench& plane, int& next, int end) {
  while (next < end) {
    const int number = next++;
    const auto made = co_await client::create(plane.server(), kRoleBindings, binding(number, number), "bench");
    SLIPWAY_CHECK(made.has_value(), made.error().message);
  }
}

double thread_cpu_ms() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

/// Milliseconds of the logic thread for a write of one binding and the first question after it.
Task<> write_some(PlaneBench& plane, int writes, double& ms) {
  const double begun = thread_cpu_ms();
  for (int i = 0; i < writes; ++i) {
    const auto written = co_await client::update(plane.server(), kRoleBindings, binding(i, i + 1), "bench");
    SLIPWAY_CHECK(written.has_value(), written.error().message);
    client::Request asked;
    asked.verb = client::Verb::List;
    asked.resource = {"", "v1", "configmaps"};
    asked.ns = "default";
    asked.limit = 1;
    asked.user = std::make_shared<const kube::UserInfo>(
        kube::UserInfo{.name = fmt::format("u{}", i + 1), .uid = "", .groups = {}, .extra = {}});
    const auto list = co_await plane.server().call(std::move(asked));
    SLIPWAY_CHECK(list.has_value(), list.error().message);
  }
  ms = (thread_cpu_ms() - begun) / writes;
}

}  // namespace

Figures measure_access(const Settings& settings) {
  double ms = 0;
  PlaneBench plane(settings.folder + "/access");
  plane.run([&](PlaneBench& open) -> Task<> {
    int next = 0;
    Tasks tasks(open.env());
    for (int i = 0; i < 64; ++i) tasks.spawn(create_bindings(open, next, settings.share_of(kBindings)));
    co_await tasks.join();
    co_await write_some(open, settings.share_of(kWrites), ms);
  });
  return {{"rolebinding_write_10k_cpu_ms",
           {ms, "ms", "<= 1", "logic thread's CPU for a write of one of 10,000 role bindings and a request it allows"}}};
}

}  // namespace slipway::bench
