#include "delivery/workflow/step.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "delivery/workflow/step_index.h"
#include "delivery/workflow/variable_path.h"
#include "json/text.h"
#include "kube/object.h"

namespace slipway::delivery::workflow {
namespace {

constexpr std::size_t kMaxShownPath = 100;

/// Reads one list of steps and gathers everything that is wrong with it.
class Reader {
 public:
  std::vector<Cause> causes;

  Mode mode_of(const Value& value, Mode fallback, const std::string& path) {
    if (value.is_null() || (value.is_string() && value.as_string().empty())) return fallback;
    if (value.as_string() == "StepByStep") return Mode::StepByStep;
    if (value.as_string() == "DAG") return Mode::DAG;
    causes.push_back(field::not_supported(path, json::print(value), {"DAG", "StepByStep"}));
    return fallback;
  }

  /// `number` names a step that has no name: "0", or "0-1" for a sub-step.
  Step step(const Value& value, const std::string& path, const std::string& number, bool is_nested);
  /// Each item of a list below `path`; nothing for an absent one.
  void each(const Value& list, const std::string& path, const std::function<void(const Value&, const std::string&)>& read);
  void known_fields(const Value& value, const std::string& path, const std::set<std::string_view>& names);

 private:
  std::string text(const Value& value, std::string_view key, const std::string& path, bool is_required = false);
  std::optional<Duration> duration(const Value& value, std::string_view key, const std::string& path);
  StepRetry retry(const Value& value, const std::string& path);
  void references(Step& to, const Value& value, const std::string& path);
  void check_path(const std::string& text, const std::string& path);
  bool check_count(const Value& list, const std::string& path);
};

void Reader::each(const Value& list, const std::string& path,
                  const std::function<void(const Value&, const std::string&)>& read) {
  if (list.is_null()) return;
  if (!list.is_array()) {
    causes.push_back(field::type_invalid(path, json::print(list), "must be a list"));
    return;
  }
  std::size_t index = 0;
  for (const Value& item : list.items()) read(item, fmt::format("{}[{}]", path, index++));
}

void Reader::known_fields(const Value& value, const std::string& path, const std::set<std::string_view>& names) {
  if (value.is_null()) return;
  if (!value.is_object()) {
    causes.push_back(field::type_invalid(path, json::print(value), "must be an object"));
    return;
  }
  for (const auto& [key, ignored] : value.members()) {
    if (!names.contains(key)) causes.push_back(field::forbidden(fmt::format("{}.{}", path, key), "unknown field"));
  }
}

std::string Reader::text(const Value& value, std::string_view key, const std::string& path, bool is_required) {
  const Value& found = value[key];
  const std::string at = fmt::format("{}.{}", path, key);
  if (!found.is_null() && !found.is_string()) causes.push_back(field::type_invalid(at, json::print(found), "must be a string"));
  if (is_required && found.as_string().empty()) causes.push_back(field::required(at));
  return found.str();
}

std::optional<Duration> Reader::duration(const Value& value, std::string_view key, const std::string& path) {
  const std::string written = text(value, key, path);
  if (written.empty()) return std::nullopt;
  if (auto parsed = parse_duration(written)) return *parsed;
  causes.push_back(
      field::invalid(fmt::format("{}.{}", path, key), json::print(value[key]), "must be a duration such as 1m30s"));
  return std::nullopt;
}

StepRetry Reader::retry(const Value& value, const std::string& path) {
  StepRetry retry;
  known_fields(value, path, {"limit", "backoff"});
  const Value& limit = value["limit"];
  if (!limit.is_int() || limit.as_int() < 0) {
    causes.push_back(field::invalid(path + ".limit", json::print(limit), "must be a number, 0 or more"));
  }
  retry.limit = limit.as_int();
  const Value& backoff = value["backoff"];
  known_fields(backoff, path + ".backoff", {"duration", "factor", "cap"});
  retry.duration = duration(backoff, "duration", path + ".backoff").value_or(retry.duration);
  retry.cap = duration(backoff, "cap", path + ".backoff").value_or(retry.cap);
  retry.factor = backoff["factor"].as_double(retry.factor);
  if (retry.factor < 1) {
    causes.push_back(field::invalid(path + ".backoff.factor", json::print(backoff["factor"]), "must be 1 or more"));
  }
  return retry;
}

/// Of a path only its size is checked: what it leads to is known when the step runs.
void Reader::check_path(const std::string& text, const std::string& path) {
  const auto parts = parse_path(text);
  if (parts || parts.error().reason != Reason::Invalid) return;
  causes.push_back(field::invalid(path, json::print(Value(text.substr(0, kMaxShownPath))), parts.error().message));
}

/// False when there are too many.
bool Reader::check_count(const Value& list, const std::string& path) {
  if (list.size() <= kMaxStepVariables) return true;
  causes.push_back(field::too_many(path, list.size(), kMaxStepVariables));
  return false;
}

void Reader::references(Step& to, const Value& value, const std::string& path) {
  each(value["dependsOn"], path + ".dependsOn", [&](const Value& item, const std::string& at) {
    if (item.as_string().empty()) {
      causes.push_back(field::invalid(at, json::print(item), "must be the name of a step"));
    } else {
      to.depends_on.push_back(item.str());
    }
  });
  if (!check_count(value["inputs"], path + ".inputs") || !check_count(value["outputs"], path + ".outputs")) return;
  each(value["inputs"], path + ".inputs", [&](const Value& item, const std::string& at) {
    known_fields(item, at, {"from", "parameterKey"});
    to.inputs.push_back({.from = text(item, "from", at, true), .parameter_key = text(item, "parameterKey", at)});
    check_path(to.inputs.back().parameter_key, at + ".parameterKey");
  });
  each(value["outputs"], path + ".outputs", [&](const Value& item, const std::string& at) {
    known_fields(item, at, {"name", "valueFrom"});
    to.outputs.push_back({.name = text(item, "name", at, true), .value_from = text(item, "valueFrom", at, true)});
    check_path(to.outputs.back().name, at + ".name");
  });
}

Step Reader::step(const Value& value, const std::string& path, const std::string& number, bool is_nested) {
  known_fields(value, path,
               {"name", "type", "meta", "if", "timeout", "dependsOn", "inputs", "outputs", "properties", "subSteps", "mode",
                "stage", "retry"});
  Step step;
  step.name = text(value, "name", path);
  if (step.name.empty()) step.name = "step-" + number;
  step.type = text(value, "type", path, true);
  step.alias = text(value["meta"], "alias", path + ".meta");
  step.condition = text(value, "if", path);
  if (duration(value, "timeout", path)) step.timeout = value["timeout"].str();
  references(step, value, path);
  step.properties = value["properties"];
  if (!step.properties.is_null() && !step.properties.is_object()) {
    causes.push_back(field::type_invalid(path + ".properties", json::print(step.properties), "must be an object"));
  }
  if (const std::string stage = text(value, "stage", path); !stage.empty()) {
    if (stage != "pre-render" && stage != "post-render") {
      causes.push_back(field::not_supported(path + ".stage", json::print(value["stage"]), {"post-render", "pre-render"}));
    }
    step.is_pre_render = stage == "pre-render";
  }
  if (value.has("mode")) step.mode = mode_of(value["mode"], Mode::DAG, path + ".mode");
  if (value.has("retry")) step.retry = retry(value["retry"], path + ".retry");
  const bool is_group = step.type == kStepGroup;
  if (is_nested && is_group) causes.push_back(field::forbidden(path + ".type", "groups of steps do not nest"));
  if (!is_group && !value["subSteps"].empty()) {
    causes.push_back(field::forbidden(path + ".subSteps", "only a step of type step-group has sub-steps"));
  }
  if (is_group && !is_nested) {
    each(value["subSteps"], path + ".subSteps", [&](const Value& item, const std::string& at) {
      step.sub_steps.push_back(this->step(item, at, fmt::format("{}-{}", number, step.sub_steps.size()), true));
    });
  }
  return step;
}

/// Every step and sub-step with its path.
std::vector<std::pair<const Step*, std::string>> all_of(const Steps& steps, const std::string& path) {
  std::vector<std::pair<const Step*, std::string>> all;
  for (std::size_t i = 0; i < steps.steps.size(); ++i) {
    const Step& step = steps.steps[i];
    const std::string at = fmt::format("{}[{}]", path, i);
    all.emplace_back(&step, at);
    for (std::size_t j = 0; j < step.sub_steps.size(); ++j) {
      all.emplace_back(&step.sub_steps[j], fmt::format("{}.subSteps[{}]", at, j));
    }
  }
  return all;
}

void check_names(const Steps& steps, const std::string& path, std::vector<Cause>& causes) {
  const auto all = all_of(steps, path);
  const StepIndex index(steps);
  const std::vector<std::size_t> circles = dependency_circles(index);
  std::map<const Step*, std::size_t> circle_of;
  for (std::size_t i = 0; i < circles.size(); ++i) circle_of.emplace(index.all()[i], circles[i]);
  std::vector<Cause> of_circles;
  std::set<std::string> seen;
  for (const auto& [step, at] : all) {
    if (!seen.insert(step->name).second) {
      causes.push_back(field::duplicate(at + ".name", json::print(Value(step->name))));
    }
    for (std::size_t i = 0; i < step->depends_on.size(); ++i) {
      const std::string place = fmt::format("{}.dependsOn[{}]", at, i);
      const std::string name = json::print(Value(step->depends_on[i]));
      const Step* dependency = index.depended_on(step->depends_on[i]);
      if (dependency == nullptr) {
        causes.push_back(field::not_found(place, name));
      } else if (circle_of[dependency] == circle_of[step]) {
        of_circles.push_back(field::invalid(place, name, "the step would wait for itself"));
      }
    }
  }
  std::ranges::move(of_circles, std::back_inserter(causes));
}

}  // namespace

std::string_view to_string(Mode mode) { return mode == Mode::DAG ? "DAG" : "StepByStep"; }

std::vector<std::string> Steps::names() const {
  std::vector<std::string> names;
  for (const Step& step : steps) {
    names.push_back(step.name);
    for (const Step& sub : step.sub_steps) names.push_back(sub.name);
  }
  return names;
}

const Step* Steps::find(std::string_view name) const {
  for (const Step& step : steps) {
    if (step.name == name) return &step;
    for (const Step& sub : step.sub_steps) {
      if (sub.name == name) return &sub;
    }
  }
  return nullptr;
}

const Step* Steps::depended_on(std::string_view name) const {
  if (const Step* step = find(name)) return step;
  const auto stands_for = [&](const Step& step) {
    const Value& own = step.properties["name"];
    return (own.as_string().empty() ? step.properties["component"] : own).as_string() == name;
  };
  for (const Step& step : steps) {
    if (stands_for(step)) return &step;
    const auto sub = std::ranges::find_if(step.sub_steps, stands_for);
    if (sub != step.sub_steps.end()) return &*sub;
  }
  return nullptr;
}

Result<Steps> read_steps(const Value& steps, const Value& mode, const std::string& path) {
  Reader reader;
  Steps read;
  const std::string mode_path = path.substr(0, path.rfind('.') + 1) + "mode";
  reader.known_fields(mode, mode_path, {"steps", "subSteps"});
  read.mode = reader.mode_of(mode["steps"], Mode::StepByStep, mode_path + ".steps");
  read.sub_mode = reader.mode_of(mode["subSteps"], Mode::DAG, mode_path + ".subSteps");
  reader.each(steps, path, [&](const Value& item, const std::string& at) {
    read.steps.push_back(reader.step(item, at, std::to_string(read.steps.size()), false));
  });
  check_names(read, path, reader.causes);
  if (reader.causes.empty()) return read;
  std::string message;
  for (const Cause& cause : reader.causes) {
    message += fmt::format("{}{}: {}", message.empty() ? "" : ", ", cause.field, cause.message);
  }
  Status status;
  status.reason = Reason::Invalid;
  status.message = std::move(message);
  status.causes = std::move(reader.causes);
  return fail(std::move(status));
}

}  // namespace slipway::delivery::workflow
