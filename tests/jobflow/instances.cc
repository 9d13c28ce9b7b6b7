#include "instances.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/check.h"
#include "base/time.h"
#include "json/text.h"

namespace slipway::jobflow_test {
namespace {

using json::Value;

std::int64_t micros_of(const Value& seconds) { return std::max<std::int64_t>(0, std::llround(seconds.as_double() * 1e6)); }

/// {tasks: [[id, name index, seconds, [parent indexes]], …]}
std::vector<Recorded> read_slim(const Value& root) {
  std::vector<Recorded> tasks;
  for (const Value& row : root["tasks"].items()) {
    Recorded task{.id = row.item(0).str(), .micros = micros_of(row.item(2)), .parents = {}};
    for (const Value& parent : row.item(3).items()) task.parents.push_back(static_cast<std::size_t>(parent.as_int()));
    tasks.push_back(std::move(task));
  }
  return tasks;
}

/// WfFormat 1.5: the graph in specification, run times in execution.
std::vector<Recorded> read_raw(const Value& root) {
  std::map<std::string, std::int64_t> micros;
  for (const Value& task : root["workflow"]["execution"]["tasks"].items()) {
    micros[task["id"].str()] = micros_of(task["runtimeInSeconds"]);
  }
  const Value& listed = root["workflow"]["specification"]["tasks"];
  std::map<std::string, std::size_t> index;
  for (std::size_t i = 0; i < listed.size(); ++i) index[listed.item(i)["id"].str()] = i;
  std::vector<Recorded> tasks;
  for (const Value& item : listed.items()) {
    Recorded task{.id = item["id"].str(), .micros = micros[item["id"].str()], .parents = {}};
    for (const Value& parent : item["parents"].items()) task.parents.push_back(index.at(parent.str()));
    tasks.push_back(std::move(task));
  }
  return tasks;
}

}  // namespace

std::string instances_folder() {
  const char* corpus = std::getenv("SLIPWAY_CORPUS");
  const std::string root = corpus != nullptr ? corpus : std::string(SLIPWAY_SOURCE_DIR) + "/../shared/corpus";
  const std::string folder = root + "/dags/wfinstances";
  return std::filesystem::exists(folder) ? folder : "";
}

std::vector<Instance> read_instances(const std::string& folder) {
  std::vector<Instance> instances;
  for (const auto* form : {"raw", "slim"}) {
    for (const auto& entry : std::filesystem::directory_iterator(folder + "/" + form)) {
      std::ostringstream text;
      text << std::ifstream(entry.path(), std::ios::binary).rdbuf();
      const auto root = json::parse(text.str(), {.max_bytes = std::size_t{256} << 20});
      SLIPWAY_CHECK(root.has_value(), root.error().message);
      instances.push_back({entry.path().filename(), form == std::string("raw") ? read_raw(*root) : read_slim(*root)});
    }
  }
  std::ranges::sort(instances, {}, &Instance::file);
  return instances;
}

std::int64_t critical_path(const Instance& instance) {
  const auto& tasks = instance.tasks;
  std::vector<std::size_t> waits(tasks.size()), order;
  std::vector<std::vector<std::size_t>> children(tasks.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    waits[i] = tasks[i].parents.size();
    if (waits[i] == 0) order.push_back(i);
    for (std::size_t parent : tasks[i].parents) children[parent].push_back(i);
  }
  std::vector<std::int64_t> start(tasks.size());
  std::int64_t longest = 0;
  for (std::size_t at = 0; at < order.size(); ++at) {
    const std::int64_t end = start[order[at]] + tasks[order[at]].micros;
    longest = std::max(longest, end);
    for (std::size_t child : children[order[at]]) {
      start[child] = std::max(start[child], end);
      if (--waits[child] == 0) order.push_back(child);
    }
  }
  SLIPWAY_CHECK(order.size() == tasks.size(), "an instance has a cycle");
  return longest;
}

std::int64_t total_work(const Instance& instance) {
  std::int64_t sum = 0;
  for (const auto& task : instance.tasks) sum += task.micros;
  return sum;
}

Value workflow_spec(const Instance& instance, std::int64_t parallelism) {
  json::ObjectBuilder steps(instance.tasks.size());
  for (const auto& task : instance.tasks) {
    const Value pods = json::object(
        {{"metadata",
          json::object({{"annotations", json::object({{"slipway.dev/run-time", to_string(Duration(task.micros))}})}})},
         {"spec", json::object({{"restartPolicy", "Never"},
                                {"containers", json::array({json::object({{"name", "m"}, {"image", "i"}})})}})}});
    Value step = json::object({{"jobTemplate", json::object({{"spec", json::object({{"template", pods}})}})}});
    if (!task.parents.empty()) {
      std::vector<std::string> names;
      for (std::size_t parent : task.parents) names.push_back(instance.tasks[parent].id);
      std::ranges::sort(names);
      names.erase(std::unique(names.begin(), names.end()), names.end());
      step = step.with("dependencies", json::array(std::span<const std::string>(names)));
    }
    steps.add(task.id, std::move(step));
  }
  Value spec = json::object({{"steps", steps.build()}});
  return parallelism == 0 ? spec : spec.with("parallelism", parallelism);
}

}  // namespace slipway::jobflow_test
