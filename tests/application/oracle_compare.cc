#include "oracle_compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "json/text.h"
#include "kube/object.h"
#include "oracle_normalise.h"
#include "oracle_status.h"

namespace slipway::oracle_test {

namespace {

void add_differences_at(std::vector<std::string>& out, const std::string& path, const Value& expected, const Value& found) {
  if (expected == found) return;
  const std::string below = path.empty() ? path : path + ".";
  if (expected.is_object() && found.is_object()) {
    for (const auto [key, value] : expected.members()) add_differences_at(out, below + std::string(key), value, found[key]);
    for (const auto [key, value] : found.members()) {
      if (!expected.has(key)) out.push_back(fmt::format("{}{}: not expected, found {}", below, key, json::print(value)));
    }
  } else if (expected.is_array() && found.is_array() && expected.size() == found.size()) {
    for (std::size_t at = 0; at < expected.size(); ++at) {
      add_differences_at(out, fmt::format("{}[{}]", path, at), expected.item(at), found.item(at));
    }
  } else if (found.is_null()) {
    out.push_back(fmt::format("{}: expected {}, found nothing", path, json::print(expected)));
  } else {
    out.push_back(fmt::format("{}: expected {}, found {}", path, json::print(expected), json::print(found)));
  }
}

std::string key_of_service(const Value& service) {
  return fmt::format("{}/{}/{}", service["cluster"].as_string(), service["namespace"].as_string(), service["name"].as_string());
}
std::string key_of_step(const Value& step) { return step["name"].str(); }

/// What is expected, by key, against what was found; what was found beside it counts as a unit that did not pass.
Count compare_lists(const std::string& title, const Value& expected, const Value& found, std::string (*key_of)(const Value&),
                    std::vector<std::string>& differences) {
  Count count;
  std::set<std::string> known;
  for (const Value& one : expected.items()) {
    const std::string key = key_of(one);
    known.insert(key);
    const auto all = found.items();
    const auto same = std::ranges::find_if(all, [&](const Value& other) { return key_of(other) == key; });
    const bool is_there = same != all.end();
    count.add(is_there && *same == one);
    if (!is_there || *same != one) {
      differences.push_back(
          fmt::format("{} {}: expected {}, found {}", title, key, json::print(one), is_there ? json::print(*same) : "nothing"));
    }
  }
  for (const Value& one : found.items()) {
    if (known.contains(key_of(one))) continue;
    count.add(false);
    differences.push_back(fmt::format("{} {}: not expected, found {}", title, key_of(one), json::print(one)));
  }
  return count;
}

Value failed_steps(const Value& steps) {
  json::ArrayBuilder failed;
  for (const Value& step : steps.items()) {
    if (step["phase"] == Value("failed")) failed.add(json::object({{"name", step["name"]}, {"reason", step["reason"]}}));
  }
  return failed.build();
}

/// The name that is missing, as the condition's message has it: one of the names in `unresolved`, or one in quotes.
std::vector<std::string> missing_names(const Value& line, const std::string& message) {
  std::vector<std::string> names;
  for (const Value& one : line["unresolved"].items()) {
    const std::string text = one.str();
    const std::string name = text.substr(text.find(':') + 1);
    if (!name.empty() && message.find(name) != std::string::npos) names.push_back(name);
  }
  return names;
}

/// False conditions of the line are False here too, and the message names what is missing.
bool is_same_wait(const Value& line, const Value& target, std::vector<std::string>& differences) {
  bool is_same = true;
  for (const Value& expected : conditions_of(json::object({{"status", line}})).items()) {
    if (expected["status"] != Value("False") || expected["type"] == Value("Ready")) continue;
    const Value& found = kube::condition(target, expected["type"].as_string());
    const std::string message = found["message"].str();
    const std::vector<std::string> names = missing_names(line, expected["message"].str());
    const bool is_named =
        names.empty() || std::ranges::any_of(names, [&](const std::string& name) { return message.contains(name); });
    if (found["status"] == expected["status"] && is_named) continue;
    is_same = false;
    differences.push_back(fmt::format("condition {}: expected {}, found {}", expected["type"].as_string(),
                                      json::print(expected), json::print(found)));
  }
  return is_same;
}

bool is_same_end(Class kind, const Value& line, const End& end, std::vector<std::string>& differences) {
  if (end.target.is_null()) {
    differences.push_back("end: the target is not there");
    return false;
  }
  const std::string phase = phase_of(end.target);
  const bool has_phase = phase == line["phase"].as_string() && end.is_stable;
  if (!has_phase) {
    differences.push_back(fmt::format("end: expected phase {}, found {}{}", json::print(line["phase"]),
                                      phase.empty() ? "none" : phase, end.is_stable ? "" : ", not stable"));
  }
  switch (kind) {
    case Class::Runs:
      return has_phase;
    case Class::Fails: {
      const Value expected = failed_steps(expected_steps(line));
      const Value found = failed_steps(steps_of(end.target));
      if (expected == found) return has_phase;
      differences.push_back(fmt::format("end: expected failed steps {}, found {}", json::print(expected), json::print(found)));
      return false;
    }
    // DIVERGES on purpose: what is missing may be said in another phase than upstream's.
    case Class::Waits:
      return is_same_wait(line, end.target, differences) && end.is_stable;
  }
  return false;
}

std::string title_of(const Value& object) {
  return fmt::format("object {} {}", object["kind"].as_string(), kube::key_of(object).to_string());
}

Count compare_objects(const Value& line, const End& end, const Find& find, std::vector<std::string>& differences) {
  Count count;
  std::set<std::string> known;
  for (const Value& expected : expected_objects(line)) {
    known.insert(title_of(expected));
    const Value found = find(cluster_of(expected), expected);
    const std::vector<std::string> here = object_differences(expected, found);
    count.add(here.empty());
    for (const std::string& one : here) differences.push_back(fmt::format("{} {}", title_of(expected), one));
  }
  for (const Value& reference : end.target["status"]["appliedResources"].items()) {
    const Value object =
        json::object({{"kind", reference["kind"]},
                      {"metadata", json::object({{"namespace", reference["namespace"]}, {"name", reference["name"]}})}});
    if (known.contains(title_of(object))) continue;
    count.add(false);
    differences.push_back(fmt::format("{} not expected", title_of(object)));
  }
  return count;
}

Comparison compare_line(Class kind, const Value& line, const End& end, const Find& find) {
  Comparison made;
  for (const std::string& refusal : end.refusals) made.differences.push_back("refused: " + refusal);
  made.is_same_end = is_same_end(kind, line, end, made.differences);
  made.steps = compare_lists("step", expected_steps(line), steps_of(end.target), key_of_step, made.differences);
  made.services = compare_lists("service", expected_services(line), services_of(end.target), key_of_service, made.differences);
  made.objects = compare_objects(line, end, find, made.differences);
  return made;
}

bool fits_better(const Comparison& one, const Comparison& other) {
  if (one.is_same_end != other.is_same_end) return one.is_same_end;
  return one.differences.size() < other.differences.size();
}

}  // namespace

Comparison compare(const Case& of, const End& end, const Find& find) {
  Comparison best;
  bool is_first = true;
  for (const Value& line : of.lines) {
    const Class kind = Case{.file = of.file, .lines = {line}, .difference = ""}.kind();
    Comparison made = compare_line(kind, line, end, find);
    if (is_first || fits_better(made, best)) best = std::move(made);
    is_first = false;
  }
  return best;
}

std::vector<Value> expected_objects(const Value& line) {
  std::vector<Value> objects(line["objects"].items().begin(), line["objects"].items().end());
  if (line["target"]["kind"] != Value("WorkflowRun")) return objects;
  for (const Value& other : line["otherObjects"].items()) {
    if (kube::label(other, "workflowrun.oam.dev/name") == line["target"]["name"].as_string()) objects.push_back(other);
  }
  return objects;
}

std::string cluster_of(const Value& object) {
  const std::string_view cluster = kube::label(object, "app.oam.dev/cluster");
  return cluster.empty() ? kHub : std::string(cluster);
}

std::vector<std::string> object_differences(const Value& expected, const Value& found) {
  if (found.is_null()) return {"not there"};
  std::vector<std::string> out;
  add_differences_at(out, "", normalised(expected), normalised(found));
  return out;
}

}  // namespace slipway::oracle_test
