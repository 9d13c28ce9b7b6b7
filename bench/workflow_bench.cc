// workflows_per_min, api_writes_per_workflow, dispatch_p99_ms and a graph of 10,000 steps, on the real clock and a real disk
// with simulated pods.
#include <fmt/format.h>

#include <map>
#include <set>

#include "base/check.h"
#include "client/informer.h"
#include "delivery/jobflow/names.h"
#include "delivery/jobflow/workflow.h"
#include "json/text.h"
#include "plane_bench.h"

namespace slipway::bench {
namespace {

using delivery::jobflow::kJobs;
using delivery::jobflow::kWorkflowKind;
using delivery::jobflow::kWorkflows;
using json::Value;

Value job_template() {
  return json::object(
      {{"spec",
        json::object(
            {{"backoffLimit", 0},
             {"template",
              json::object({{"spec", json::object({{"restartPolicy", "Never"},
                                                   {"containers", json::array({json::object(
                                                                      {{"name", "main"}, {"image", "none"}})})}})}})}})}});
}

Value workflow(const std::string& name, Value steps, Value templates = {}) {
  Value spec = json::object({{"steps", std::move(steps)}});
  if (!templates.is_null()) spec = spec.with("templates", std::move(templates));
  return json::object({{"apiVersion", kWorkflowKind.api_version()},
                       {"kind", kWorkflowKind.kind},
                       {"metadata", json::object({{"name", name}, {"namespace", "default"}})},
                       {"spec", spec}});
}

/// Counts workflows that reached an end, by watching them.
struct Ends {
  Ends(Env& env, client::Client& client) : informer(env, client, kWorkflows), changed(env), tasks(env) {
    informer.add_handler([this](const Value& before, const Value& after) {
      if (kube::is_true(after, "Failed")) ++failed;
      if (kube::is_true(after, "Complete") && !kube::is_true(before, "Complete")) {
        ++complete;
        changed.notify();
      }
    });
    tasks.spawn(informer.run());
  }
  Task<> wait(int count) {
    while (complete < count) co_await changed.wait();
  }

  client::Informer informer;
  Signal changed;
  Tasks tasks;
  int complete = 0;
  int failed = 0;
};

Task<> create_some(PlaneBench& plane, const std::vector<Value>& objects, std::size_t& next) {
  while (next < objects.size()) {
    const auto created = co_await client::create(plane.server(), kWorkflows, objects[next++], "bench");
    SLIPWAY_CHECK(created.has_value(), created.error().message);
  }
}

/// Committed changes below a prefix since the store was opened, by the revisions the objects carry.
struct Writes {
  std::int64_t all = 0;
  std::int64_t events = 0;
};

struct Throughput {
  double per_minute = 0;
  double writes = 0;
  double events = 0;
};

Throughput measure_throughput(const Settings& settings, int count) {
  Throughput result;
  auto ends = std::shared_ptr<Ends>();
  PlaneBench plane(settings.folder + "/workflows");
  plane.run([&](PlaneBench& open) -> Task<> {
    ends = std::make_shared<Ends>(open.env(), open.server());
    co_await ends->informer.wait_synced();
    open.start_controllers();
    std::vector<Value> objects;
    for (int i = 0; i < count; ++i) {
      objects.push_back(
          workflow(fmt::format("w{}", i), json::object({{"only", json::object({{"jobTemplate", job_template()}})}})));
    }
    const auto before = open.store().revision();
    const auto events_before = open.store().count("/registry/core/events/");
    const Instant start = tick();
    std::size_t next = 0;
    Tasks tasks(open.env());
    for (int i = 0; i < 64; ++i) tasks.spawn(create_some(open, objects, next));
    co_await tasks.join();
    co_await ends->wait(count);
    const double took = seconds_since(start);
    SLIPWAY_CHECK(ends->failed == 0);
    co_await sleep_for(open.env(), std::chrono::seconds{1});
    const auto events = static_cast<double>(open.store().count("/registry/core/events/") - events_before);
    result.per_minute = count / took * 60;
    result.events = events / count;
    result.writes = (static_cast<double>(open.store().revision() - before) - events) / count;
  });
  return result;
}

/// 100 chains of 20 steps at once: the time from a Job's end (its Complete condition is durable) to the creation of the next
/// one.
double measure_dispatch_p99(const Settings& settings) {
  const int chains = settings.share_of(100);
  constexpr int kLength = 20;
  std::vector<double> delays;
  std::map<std::string, Instant> ended;
  auto ends = std::shared_ptr<Ends>();
  auto jobs = std::shared_ptr<client::Informer>();
  PlaneBench plane(settings.folder + "/dispatch");
  plane.run([&](PlaneBench& open) -> Task<> {
    ends = std::make_shared<Ends>(open.env(), open.server());
    jobs = std::make_shared<client::Informer>(open.env(), open.server(), kJobs);
    jobs->add_handler([&](const Value& before, const Value& after) {
      const std::string chain = kube::controller_of(after.is_null() ? before : after)["name"].str();
      const int step = std::atoi(std::string(kube::annotation(after, delivery::jobflow::kStepAnnotation)).c_str() + 1);
      if (before.is_null() && step > 0) {
        const auto parent = ended.find(fmt::format("{}/{}", chain, step - 1));
        if (parent != ended.end()) delays.push_back(seconds_since(parent->second) * 1000);
      }
      if (kube::is_true(after, "Complete") && !kube::is_true(before, "Complete"))
        ended[fmt::format("{}/{}", chain, step)] = tick();
    });
    Tasks watching(open.env());
    ends->tasks.spawn(jobs->run());
    co_await ends->informer.wait_synced();
    co_await jobs->wait_synced();
    open.start_controllers();
    std::vector<Value> objects;
    for (int i = 0; i < chains; ++i) {
      json::ObjectBuilder steps;
      for (int s = 0; s < kLength; ++s) {
        Value step = json::object({{"jobTemplate", job_template()}});
        if (s > 0) step = step.with("dependencies", json::array({fmt::format("s{}", s - 1)}));
        steps.set(fmt::format("s{}", s), step);
      }
      objects.push_back(workflow(fmt::format("chain{}", i), steps.build()));
    }
    std::size_t next = 0;
    co_await create_some(open, objects, next);
    co_await ends->wait(chains);
  });
  return percentile(delays, 0.99);
}

/// Layers of 100 steps, each step after three of the layer before.
Value big_graph(int steps) {
  json::ObjectBuilder all(static_cast<std::size_t>(steps));
  for (int i = 0; i < steps; ++i) {
    Value step = json::object({{"template", json::object({{"name", "one"}})}});
    if (i >= 100) {
      json::ArrayBuilder dependencies;
      for (int k = 0; k < 3; ++k) dependencies.add(fmt::format("s{:05}", (i / 100 - 1) * 100 + (i % 100 + k * 7) % 100));
      step = step.with("dependencies", dependencies.build());
    }
    all.add(fmt::format("s{:05}", i), step);
  }
  return workflow("big", all.build(), json::object({{"one", job_template()}}));
}

}  // namespace

Figures measure_workflows(const Settings& settings) {
  const int count = settings.share_of(5000);
  std::vector<double> rates;
  Throughput last;
  for (int i = 0; i < 3; ++i) {
    last = measure_throughput(settings, count);
    rates.push_back(last.per_minute);
  }
  return {
      {"workflows_per_min", {median(rates), "1/min", ">= 42000", "5,000 one-step workflows, first create to last Complete"}},
      {"api_writes_per_workflow", {last.writes, "", "<= 12", "committed revisions without Events"}},
      {"api_events_per_workflow", {last.events, "", "", "Events, beside it"}},
      {"dispatch_p99_ms",
       {measure_dispatch_p99(settings), "ms", "", "100 chains of 20 steps at once; parent's end to child's creation"}}};
}

Figures measure_graph(const Settings& settings) {
  Figures figures;
  auto ends = std::shared_ptr<Ends>();
  double largest = 0;
  PlaneBench plane(settings.folder + "/graph10k");
  plane.run([&](PlaneBench& open) -> Task<> {
    ends = std::make_shared<Ends>(open.env(), open.server());
    co_await ends->informer.wait_synced();
    open.start_controllers();
    const Instant start = tick();
    const auto created = co_await client::create(open.server(), kWorkflows, big_graph(settings.share_of(10'000)), "bench");
    SLIPWAY_CHECK(created.has_value(), created.error().message);
    co_await ends->wait(1);
    figures["graph10k_s"] = {seconds_since(start), "s", "",
                             "10,000 steps in layers of 100 with 30,000 edges, pods of run time 0"};
    figures["graph10k_rss_mb"] = {resident_mb(), "MB", "", "resident memory of the whole process at its end"};
    const auto range = open.store().range({});
    for (const auto& [key, entry] : range->entries) {
      largest = std::max(largest, static_cast<double>(json::print(entry.value).size()) / 1e6);
    }
    figures["graph10k_largest_object_mb"] = {largest, "MB", "<= 1.5", ""};
  });
  return figures;
}

}  // namespace slipway::bench
