#include "krm/kptfile.h"

#include <fmt/format.h>

#include <algorithm>

#include "json/text.h"
#include "json/yaml_place.h"
#include "krm/yaml_tree.h"

namespace slipway::krm {
namespace {

// kpt names the Go type that lacks a field: the one of the field's parent.
std::string_view type_of(std::string_view field) {
  struct Row {
    std::string_view parent;
    std::string_view type;
  };
  static constexpr Row kRows[] = {{"mutators", "v1.Function"},
                                  {"validators", "v1.Function"},
                                  {"pipeline", "v1.Pipeline"},
                                  {"selectors", "v1.Selector"},
                                  {"exclude", "v1.Selector"},
                                  {"info", "v1.PackageInfo"},
                                  {"readinessGates", "v1.ReadinessGate"},
                                  {"upstream", "v1.Upstream"},
                                  {"upstreamLock", "v1.Locator"},
                                  {"git", "v1.Git"},
                                  {"inventory", "v1.Inventory"},
                                  {"conditions", "v1.Condition"},
                                  {"status", "v1.Status"},
                                  {"metadata", "yaml.ObjectMeta"}};
  const std::size_t dot = field.rfind('.');
  if (dot == std::string_view::npos) return "v1.KptFile";
  std::string_view parent = field.substr(0, dot);
  if (const std::size_t bracket = parent.rfind('['); parent.ends_with(']')) parent = parent.substr(0, bracket);
  parent = parent.substr(parent.rfind('.') + 1);
  if (parent == "git" && field.starts_with("upstreamLock")) return "v1.GitLock";
  const auto found = std::ranges::find(kRows, parent, &Row::parent);
  return found == std::end(kRows) ? "v1.KptFile" : found->type;
}

std::string described(const Status& error, std::string_view text, std::size_t line, std::string_view path) {
  std::string made = "yaml: unmarshal errors:";
  for (const Cause& cause : error.causes) {
    const std::size_t at = json::yaml_line(text, line, cause.field);
    const bool is_unknown = cause.message.contains("unknown field");
    const std::string_view last = std::string_view(cause.field).substr(cause.field.rfind('.') + 1);
    made += is_unknown
                ? fmt::format("\n  line {}: field {} not found in type {} ({}:{})", at, last, type_of(cause.field), path, at)
                : fmt::format("\n  line {}: {}: {} ({}:{})", at, cause.field, cause.message, path, at);
  }
  return error.causes.empty() ? fmt::format("{}: {}", path, error.message) : made;
}

// Kptfiles of older formats are to be migrated, not guessed at.
Result<void> require_version(const json::Value& value, std::string_view path) {
  if (value["kind"].as_string() != "Kptfile") {
    return fail(Reason::BadRequest, fmt::format("{}: kind is {}, wanted Kptfile", path, json::print(value["kind"])));
  }
  const std::string_view version = value["apiVersion"].as_string();
  if (version == "kpt.dev/v1") return {};
  if (version == "kpt.dev/v1alpha1" || version == "kpt.dev/v1alpha2") {
    return fail(Reason::BadRequest,
                fmt::format("{} has an old version ({}) of the Kptfile schema. Please migrate the package to the latest "
                            "format with the function fix.",
                            path, version));
  }
  return fail(Reason::BadRequest, fmt::format("{} has an unknown resource type ({}, kind Kptfile)", path, version));
}

Result<KeptYaml> kept(std::string text) {
  SLIPWAY_TRY(made, KeptYaml::parse(std::move(text)));
  if (made.documents().empty()) return fail(Reason::BadRequest, "Kptfile: the file is empty");
  return std::move(made);
}

std::optional<std::size_t> index_of(const json::Value& list, std::string_view key, std::string_view wanted) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list.item(i)[key].as_string() == wanted) return i;
  }
  return std::nullopt;
}

}  // namespace

Result<Kptfile> read_kptfile(std::string_view text, std::string_view path) {
  auto tree = read_one_yaml(text);
  if (!tree) return fail(Reason::BadRequest, fmt::format("{} can't be read.\n\nDetails:\n{}", path, tree.error().message));
  SLIPWAY_TRY(value, to_value(tree->root));
  SLIPWAY_TRY_VOID(require_version(value, path));
  auto made = json::decode<Kptfile>(value);
  if (!made) {
    const std::size_t line = tree->root.line_number;
    return fail(Reason::BadRequest,
                fmt::format("{} can't be read.\n\nDetails:\n{}", path, described(made.error(), text, line, path)));
  }
  return std::move(*made);
}

std::vector<UnmetGate> unmet_gates(const Kptfile& kptfile) {
  std::vector<UnmetGate> made;
  if (!kptfile.info) return made;
  for (const KptGate& gate : kptfile.info->readiness_gates) {
    UnmetGate unmet{.type = gate.condition_type, .status = "", .reason = "", .message = ""};
    bool is_met = false;
    if (kptfile.status) {
      const auto& all = kptfile.status->conditions;
      const auto found = std::ranges::find(all, gate.condition_type, &KptCondition::type);
      if (found != all.end()) {
        is_met = found->status == "True";
        unmet = {.type = gate.condition_type, .status = found->status, .reason = found->reason, .message = found->message};
      }
    }
    if (!is_met) made.push_back(std::move(unmet));
  }
  return made;
}

std::string punch_list(const std::vector<UnmetGate>& unmet) {
  std::string made;
  for (const UnmetGate& gate : unmet) {
    made += gate.type + ": " + (gate.status.empty() ? std::string("no condition yet") : gate.status);
    if (!gate.reason.empty()) made += ", " + gate.reason;
    if (!gate.message.empty()) made += ": " + gate.message;
    made += '\n';
  }
  return made;
}

Result<std::string> with_condition(std::string text, const KptCondition& condition) {
  SLIPWAY_TRY(file, kept(std::move(text)));
  SLIPWAY_TRY(value, to_value(file.documents().front().root));
  const auto index = index_of(value["status"]["conditions"], "type", condition.type);
  if (!index) {
    const std::string path[] = {"status", "conditions", "-"};
    if (!value["status"]["conditions"].is_array()) {
      SLIPWAY_TRY_VOID(file.set(0, std::span(path).first(2), json::array({json::encode(condition)})));
    } else {
      SLIPWAY_TRY_VOID(file.set(0, path, json::encode(condition)));
    }
    return file.text();
  }
  const json::Value made = json::encode(condition);
  const json::Value old = value["status"]["conditions"].item(*index);
  for (std::string_view field : {"status", "reason", "message"}) {
    const std::string path[] = {"status", "conditions", std::to_string(*index), std::string(field)};
    if (made.has(field)) {
      SLIPWAY_TRY_VOID(file.set(0, path, made[field]));
    } else if (old.has(field)) {
      SLIPWAY_TRY_VOID(file.remove(0, path));
    }
  }
  return file.text();
}

Result<std::string> with_gate(std::string text, std::string_view type) {
  SLIPWAY_TRY(file, kept(std::move(text)));
  SLIPWAY_TRY(value, to_value(file.documents().front().root));
  const json::Value& gates = value["info"]["readinessGates"];
  if (index_of(gates, "conditionType", type)) return file.text();
  const std::string path[] = {"info", "readinessGates", "-"};
  const json::Value gate = json::object({{"conditionType", type}});
  if (gates.is_array()) {
    SLIPWAY_TRY_VOID(file.set(0, path, gate));
  } else {
    SLIPWAY_TRY_VOID(file.set(0, std::span(path).first(2), json::array({gate})));
  }
  return file.text();
}

Result<std::string> without_gate(std::string text, std::string_view type) {
  SLIPWAY_TRY(file, kept(std::move(text)));
  SLIPWAY_TRY(value, to_value(file.documents().front().root));
  const auto index = index_of(value["info"]["readinessGates"], "conditionType", type);
  if (!index) return fail(Reason::NotFound, fmt::format("there is no gate for the condition {:?}", type));
  const std::string path[] = {"info", "readinessGates", std::to_string(*index)};
  const bool is_last = value["info"]["readinessGates"].size() == 1;
  SLIPWAY_TRY_VOID(file.remove(0, std::span(path).first(is_last ? 2 : 3)));
  return file.text();
}

}  // namespace slipway::krm
