#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "cel/estimate.h"
#include "cel/rules.h"
#include "cel/schema_type.h"
#include "json/quoted.h"
#include "json/text.h"

namespace slipway::cel {

using json::quoted;
namespace {

constexpr std::array<std::string_view, 4> kReasons{"FieldValueRequired", "FieldValueForbidden", "FieldValueInvalid",
                                                   "FieldValueDuplicate"};

bool has_line_break(std::string_view text) { return text.find_first_of("\r\n") != std::string_view::npos; }
/// The rule as Go's %#v prints it.
std::string shown(const json::Value& rule) {
  const auto pointer = [&](const char* member, const char* type) {
    return fmt::format("(*{})({})", type, rule[member].is_null() ? "nil" : "0xc000000000");
  };
  return fmt::format(
      "apiextensions.ValidationRule{{Rule:{}, Message:{}, MessageExpression:{}, Reason:{}, FieldPath:{}, OptionalOldSelf:{}}}",
      quoted(rule["rule"].as_string()), quoted(rule["message"].as_string()), quoted(rule["messageExpression"].as_string()),
      pointer("reason", "apiextensions.FieldValueErrorReason"), quoted(rule["fieldPath"].as_string()),
      pointer("optionalOldSelf", "bool"));
}

/// One step of a fieldPath: ".name" or "['name']". The rest of the path stays in `path`; nothing when it is malformed.
std::optional<std::string> next_step(std::string_view& path) {
  std::string name;
  if (path.starts_with("['")) {
    const auto end = path.find("']", 2);
    if (end == std::string_view::npos) return std::nullopt;
    name = path.substr(2, end - 2);
    path.remove_prefix(end + 2);
  } else if (path.starts_with('.')) {
    const auto end = std::min(path.find_first_of(".[", 1), path.size());
    name = path.substr(1, end - 1);
    path.remove_prefix(end);
  }
  return name.empty() ? std::nullopt : std::optional<std::string>(std::move(name));
}

/// What `path` adds to the path of a cause; nothing when the schema has no such field.
std::optional<std::string> normalised(const json::Value& schema, std::string_view path) {
  const json::Value* at = &schema;
  std::string out;
  while (!path.empty()) {
    const auto name = next_step(path);
    if (!name) return std::nullopt;
    if (const json::Value* property = (*at)["properties"].find(*name)) {
      at = property;
      out += "." + *name;
    } else if (const json::Value& values = (*at)["additionalProperties"]; values.is_object()) {
      at = &values;
      out += "[" + *name + "]";
    } else {
      return std::nullopt;
    }
  }
  return out;
}

/// Where in the schema the walk is.
struct Place {
  std::string path;
  std::string uncorrelatable{};  // the place from which on old and new cannot be told to belong together; empty: they can
  std::optional<std::uint64_t> count = 1;  // how often an object can have it at the most; none: the schema sets no limit
};

/// How often `place` has what is below it, by a limit of the schema there.
std::optional<std::uint64_t> count_below(const Place& place, const json::Value& schema, const char* limit) {
  if (!place.count || !schema[limit].is_number()) return std::nullopt;
  return cost_product(*place.count, static_cast<std::uint64_t>(std::max<std::int64_t>(schema[limit].as_int(), 0)));
}

/// The estimated costs of the rules of a schema.
class Estimates {
 public:
  void add(const std::string& path, std::uint64_t cost, std::string_view what, std::vector<Cause>& causes) {
    constexpr std::uint64_t kWorthNaming = kMaxSchemaEstimate / 100;
    constexpr std::size_t kNamed = 4;
    if (cost > kMaxRuleEstimate) causes.push_back(field::forbidden(path, text(what, cost, kMaxRuleEstimate)));
    total_ = cost_sum(total_, cost);
    if (cost < kWorthNaming) return;
    const auto behind = std::ranges::find_if(dearest_, [&](const auto& one) { return one.first < cost; });
    dearest_.insert(behind, {cost, path});
    if (dearest_.size() > kNamed) dearest_.pop_back();
  }
  void judge_total(const std::string& path, std::vector<Cause>& causes) const {
    if (total_ <= kMaxSchemaEstimate) return;
    for (const auto& [cost, rule] : dearest_) {
      causes.push_back(
          field::forbidden(rule, "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"));
    }
    causes.push_back(field::forbidden(
        path,
        text("x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema", total_, kMaxSchemaEstimate)));
  }

 private:
  static std::string text(std::string_view what, std::uint64_t cost, std::uint64_t limit) {
    const double times = static_cast<double>(cost) / static_cast<double>(limit);
    const std::string factor = times > 100   ? "more than 100x"
                               : times < 1.5 ? fmt::format("{:f}x", times)
                                             : fmt::format("{:.1f}x", times);
    return fmt::format(
        "{} exceeds budget by factor of {} (try simplifying the rule, or adding maxItems, maxProperties, and "
        "maxLength where arrays, maps, and strings are declared)",
        what, factor);
  }

  std::uint64_t total_ = 0;
  std::vector<std::pair<std::uint64_t, std::string>> dearest_;
};

class RuleCompiler {
 public:
  RuleCompiler(std::vector<Cause>& causes, SchemaRules::Costs costs) : causes_(causes), costs_(costs) {}

  std::unique_ptr<RuleNode> visit(const json::Value& schema, const Place& place, bool is_resource) {
    if (!schema.is_object()) return nullptr;
    auto node = std::make_unique<RuleNode>();
    node->type_name = is_resource ? "object" : schema["type"].str();
    const json::Value& rules = schema["x-kubernetes-validations"];
    if (!rules.empty()) {
      node->type = schema_type(schema, is_resource);
      if (node->type == nullptr) node->type = type_of(Kind::Dyn);
    }
    for (std::size_t i = 0; i < rules.size(); ++i) {
      add_rule(*node, schema, rules.item(i), fmt::format("{}.x-kubernetes-validations[{}]", place.path, i), place);
    }
    visit_below(*node, schema, place);
    const bool is_empty =
        node->rules.empty() && node->properties.empty() && node->items == nullptr && node->additional == nullptr;
    return is_empty ? nullptr : std::move(node);
  }

  void judge_total(const std::string& path) const { estimates_.judge_total(path, causes_); }

 private:
  static bool is_embedded(const json::Value& schema) { return schema["x-kubernetes-embedded-resource"].as_bool(); }

  void visit_below(RuleNode& node, const json::Value& schema, const Place& place) {
    for (const auto& [name, property] : schema["properties"].members()) {
      Place below{fmt::format("{}.properties[{}]", place.path, name), place.uncorrelatable, place.count};
      if (auto found = visit(property, below, is_embedded(property)))
        node.properties.emplace(std::string(name), std::move(found));
    }
    const json::Value& values = schema["additionalProperties"];
    node.additional =
        visit(values, {place.path + ".additionalProperties", place.uncorrelatable, count_below(place, schema, "maxProperties")},
              is_embedded(values));
    node.is_keyed = schema["x-kubernetes-list-type"].as_string() == "map";
    for (const json::Value& key : schema["x-kubernetes-list-map-keys"].items()) node.keys.push_back(key.str());
    Place below{place.path + ".items", place.uncorrelatable, count_below(place, schema, "maxItems")};
    if (!node.is_keyed && below.uncorrelatable.empty()) below.uncorrelatable = place.path.empty() ? "<root>" : place.path;
    node.items = visit(schema["items"], below, is_embedded(schema["items"]));
  }

  /// What can be said without compiling. False when the rule cannot be compiled for it.
  bool judge_texts(const json::Value& rule, const std::string& path) {
    const std::string_view text = trimmed(rule["rule"].as_string());
    const std::string_view message = rule["message"].as_string();
    const std::string_view expression = rule["messageExpression"].as_string();
    const std::size_t before = causes_.size();
    if (text.empty()) {
      causes_.push_back(field::required(path + ".rule", "rule is not specified"));
    } else if (!message.empty() && trimmed(message).empty()) {
      causes_.push_back(field::invalid(path + ".message", quoted(message), "message must be non-empty if specified"));
    } else if (has_line_break(trimmed(message))) {
      causes_.push_back(field::invalid(path + ".message", quoted(message), "message must not contain line breaks"));
    } else if (has_line_break(text) && trimmed(message).empty()) {
      causes_.push_back(field::required(path + ".message", "message must be specified if rule contains line breaks"));
    }
    if (!expression.empty() && trimmed(expression).empty()) {
      causes_.push_back(field::required(path + ".messageExpression", "messageExpression must be non-empty if specified"));
    }
    if (const json::Value& reason = rule["reason"];
        !reason.is_null() && std::ranges::find(kReasons, reason.as_string()) == kReasons.end()) {
      std::vector<std::string> supported(kReasons.begin(), kReasons.end());
      std::ranges::sort(supported);
      causes_.push_back(field::not_supported(path + ".reason", json::print(reason), supported));
    }
    return causes_.size() == before;
  }

  /// The field a failure is reported at.
  bool judge_field(Rule& out, const json::Value& schema, const json::Value& rule, const std::string& path) {
    const std::string_view field_path = rule["fieldPath"].as_string();
    if (field_path.empty()) return true;
    const auto refuse = [&](std::string detail) {
      causes_.push_back(field::invalid(path + ".fieldPath", quoted(field_path), std::move(detail)));
      return false;
    };
    if (trimmed(field_path).empty()) return refuse("fieldPath must be non-empty if specified");
    if (has_line_break(field_path)) return refuse("fieldPath must not contain line breaks");
    const auto found = normalised(schema, trimmed(field_path));
    if (!found) return refuse("fieldPath must be a valid path");
    out.field = *found;
    return true;
  }

  void add_rule(RuleNode& node, const json::Value& schema, const json::Value& rule, const std::string& path,
                const Place& place) {
    Rule out;
    const bool is_good = judge_texts(rule, path);
    if (!judge_field(out, schema, rule, path) || !is_good) return;
    out.rule = trimmed(rule["rule"].as_string());
    out.message = trimmed(rule["message"].as_string());
    out.reason = rule["reason"].str();
    out.has_optional_old = rule["optionalOldSelf"].as_bool();
    Environment environment;
    environment.is_homogeneous = true;
    environment.is_kubernetes = true;
    environment.variables = {{"self", node.type}, {"oldSelf", out.has_optional_old ? optional_of(node.type) : node.type}};
    if (!compile_programs(out, environment, rule, path)) return;
    if (costs_ == SchemaRules::Costs::Estimated) estimate(out, node.type, path, place);
    if (!judge_old(out, rule, path, place)) return;
    node.rules.push_back(std::move(out));
  }

  void estimate(const Rule& rule, const TypePtr& self, const std::string& path, const Place& place) {
    // Without a limit as often as its shortest text fits into a request.
    const std::uint64_t count = place.count.value_or(kMaxRequestBytes / (min_json_bytes(*self) + 1));
    estimates_.add(path + ".rule", cost_product(rule.program->max_cost(self), count), "estimated rule cost", causes_);
    if (rule.message_program == nullptr) return;
    estimates_.add(path + ".messageExpression", cost_product(rule.message_program->max_cost(self), count),
                   "estimated messageExpression cost", causes_);
  }

  bool compile_programs(Rule& out, const Environment& environment, const json::Value& rule, const std::string& path) {
    const auto refuse = [&](const char* member, std::string detail) {
      causes_.push_back(field::invalid(path + member, shown(rule), std::move(detail)));
      return false;
    };
    auto program = Program::compile(out.rule, environment);
    if (!program) return refuse(".rule", "compilation failed: " + program.error());
    const Kind kind = (*program)->result_type().kind;
    if (kind != Kind::Bool && kind != Kind::Dyn) return refuse(".rule", "cel expression must evaluate to a bool");
    out.program = std::move(*program);
    out.uses_old = out.program->uses("oldSelf");
    const std::string_view expression = trimmed(rule["messageExpression"].as_string());
    if (expression.empty()) return true;
    auto message = Program::compile(expression, environment);
    if (!message) return refuse(".messageExpression", "messageExpression compilation failed: " + message.error());
    const Kind text = (*message)->result_type().kind;
    if (text != Kind::String && text != Kind::Dyn)
      return refuse(".messageExpression", "messageExpression must evaluate to a string");
    out.message_program = std::move(*message);
    return true;
  }

  bool judge_old(const Rule& out, const json::Value& rule, const std::string& path, const Place& place) {
    if (out.uses_old && !place.uncorrelatable.empty()) {
      causes_.push_back(field::invalid(
          path + ".rule", json::print(rule["rule"]),
          fmt::format("oldSelf cannot be used on the uncorrelatable portion of the schema within {}", place.uncorrelatable)));
      return false;
    }
    if (!out.uses_old && !rule["optionalOldSelf"].is_null()) {
      causes_.push_back(field::invalid(path + ".optionalOldSelf", json::print(rule["optionalOldSelf"]),
                                       "may not be set if oldSelf is not used in rule"));
      return false;
    }
    return true;
  }

  std::vector<Cause>& causes_;
  SchemaRules::Costs costs_;
  Estimates estimates_;
};

}  // namespace

std::shared_ptr<const SchemaRules> SchemaRules::compile(const json::Value& schema, const std::string& path,
                                                        std::vector<Cause>& causes, bool is_resource, Costs costs) {
  RuleCompiler compiler(causes, costs);
  auto root = compiler.visit(schema, {path}, is_resource);
  compiler.judge_total(path);
  if (root == nullptr) return nullptr;
  return std::make_shared<const SchemaRules>(std::move(root));
}

}  // namespace slipway::cel
