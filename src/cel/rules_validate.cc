#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "cel/rules.h"

namespace slipway::cel {
namespace {

/// A value and the one it replaces; whether they are equal is found once.
class Pair {
 public:
  Pair(const json::Value& now, const json::Value& old) : now_(now), old_(old) {}
  bool is_unchanged() const {
    if (!is_equal_) is_equal_ = now_ == old_;
    return *is_equal_;
  }

 private:
  const json::Value& now_;
  const json::Value& old_;
  mutable std::optional<bool> is_equal_;
};

class RuleRun {
 public:
  explicit RuleRun(std::vector<Cause>& causes) : causes_(causes) {}

  /// `old` is nullptr where nothing corresponds; `above` is the nearest place around where something does, nullptr for none.
  void visit(const RuleNode& node, const json::Value& value, const json::Value* old, const Pair* above,
             const std::string& path) {
    if (is_over_ || value.is_null()) return;
    std::optional<Pair> own;
    if (old != nullptr) own.emplace(value, *old);
    const Pair* nearest = own ? &*own : above;
    for (const Rule& rule : node.rules) {
      if (is_over_) return;
      check(node, rule, value, old, nearest, path);
    }
    for (const auto& [name, below] : node.properties) {
      const json::Value* member = value.find(name);
      if (member == nullptr) continue;
      visit(*below, *member, old != nullptr ? old->find(name) : nullptr, nearest, path.empty() ? name : path + "." + name);
    }
    if (node.additional != nullptr) {
      for (const auto& [key, member] : value.members()) {
        if (node.properties.contains(key)) continue;
        visit(*node.additional, member, old != nullptr ? old->find(key) : nullptr, nearest, fmt::format("{}[{}]", path, key));
      }
    }
    if (node.items == nullptr) return;
    for (std::size_t i = 0; i < value.items().size(); ++i) {
      visit(*node.items, value.items()[i], counterpart(node, value.items()[i], old), nearest, fmt::format("{}[{}]", path, i));
    }
  }

 private:
  /// The item of the old list with the same keys.
  static const json::Value* counterpart(const RuleNode& node, const json::Value& item, const json::Value* old) {
    if (!node.is_keyed || old == nullptr) return nullptr;
    for (const json::Value& other : old->items()) {
      if (std::ranges::all_of(node.keys, [&](const std::string& key) { return item[key] == other[key]; })) return &other;
    }
    return nullptr;
  }

  void check(const RuleNode& node, const Rule& rule, const json::Value& value, const json::Value* old, const Pair* nearest,
             const std::string& path) {
    if (rule.uses_old && old == nullptr && !rule.has_optional_old) return;
    // Ratcheting: it may have been broken before.
    if (!rule.uses_old && nearest != nullptr && nearest->is_unchanged()) return;
    if (spent_ >= kObjectCost) {
      refuse(node, rule, path, "validation failed due to running out of cost budget, no further validation rules will be run",
             true);
      return;
    }
    const Activation variables = activation(node, rule, value, old);
    Budget budget(std::min(kCallCost, kObjectCost - spent_));
    const Value result = rule.program->run(variables, budget);
    const bool is_exhausted = budget.is_exhausted();
    spent_ += budget.spent();
    const std::string& text = rule.message.empty() ? rule.rule : rule.message;
    if (is_exhausted) {
      refuse(node, rule, path,
             spent_ >= kObjectCost
                 ? "validation failed due to running out of cost budget, no further validation rules will be run"
                 : fmt::format("no further validation rules will be run due to call cost exceeds limit for rule: {}", text),
             true);
    } else if (result.is_error() && result.text().starts_with("no such overload")) {
      refuse(node, rule, path,
             fmt::format("'{}': call arguments did not match a supported operator, function or macro signature for rule: {}",
                         result.text(), text),
             false);
    } else if (result.is_error()) {
      refuse(node, rule, path, fmt::format("{} evaluating rule: {}", result.text(), text), false);
    } else if (!result.is_true()) {
      report(node, rule, path, message_of(rule, variables));
    }
  }

  static Activation activation(const RuleNode& node, const Rule& rule, const json::Value& value, const json::Value* old) {
    Activation variables{{"self", from_json(value, node.type)}};
    if (!rule.uses_old) return variables;
    std::optional<Value> before;
    if (old != nullptr) before = from_json(*old, node.type);
    if (rule.has_optional_old) {
      variables.emplace_back("oldSelf", optional_value(std::move(before)));
    } else {
      variables.emplace_back("oldSelf", std::move(*before));
    }
    return variables;
  }

  /// messageExpression when it gives one line of text, else the message, else the rule.
  std::string message_of(const Rule& rule, const Activation& variables) {
    if (rule.message_program != nullptr && spent_ < kObjectCost) {
      Budget budget(std::min(kCallCost, kObjectCost - spent_));
      const Value text = rule.message_program->run(variables, budget);
      spent_ += budget.spent();
      if (text.is(Kind::String)) {
        const std::string_view all = text.text();
        const auto begin = all.find_first_not_of(" \t\r\n");
        if (begin != std::string_view::npos) {
          const std::string_view line = all.substr(begin, all.find_last_not_of(" \t\r\n") - begin + 1);
          if (line.find('\n') == std::string_view::npos) return std::string(line);
        }
      }
    }
    return rule.message.empty() ? "failed rule: " + rule.rule : rule.message;
  }

  static std::string place(const std::string& path, const std::string& more) {
    if (!path.empty()) return path + more;
    if (more.empty()) return "<nil>";  // as upstream prints the root
    return more.starts_with('.') ? more.substr(1) : more;
  }

  void refuse(const RuleNode& node, const Rule&, const std::string& path, std::string detail, bool ends_all) {
    causes_.push_back(field::invalid(place(path, ""), fmt::format("\"{}\"", node.type_name), std::move(detail)));
    is_over_ |= ends_all;
  }

  void report(const RuleNode& node, const Rule& rule, const std::string& path, std::string detail) {
    std::string at = place(path, rule.field);
    const std::string shown = fmt::format("\"{}\"", node.type_name);
    if (rule.reason == "FieldValueRequired") {
      causes_.push_back(field::required(std::move(at), std::move(detail)));
    } else if (rule.reason == "FieldValueForbidden") {
      causes_.push_back(field::forbidden(std::move(at), std::move(detail)));
    } else if (rule.reason == "FieldValueDuplicate") {
      causes_.push_back(field::duplicate(std::move(at), shown));
    } else {
      causes_.push_back(field::invalid(std::move(at), shown, std::move(detail)));
    }
  }

  std::vector<Cause>& causes_;
  std::uint64_t spent_ = 0;
  bool is_over_ = false;
};

}  // namespace

void SchemaRules::validate(const json::Value& object, const json::Value& old, std::vector<Cause>& causes) const {
  RuleRun(causes).visit(*root_, object, old.is_null() ? nullptr : &old, nullptr, "");
}

}  // namespace slipway::cel
