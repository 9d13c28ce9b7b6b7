#include "delivery/workflow/evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "cue/patch/patch.h"
#include "delivery/workflow/variable_path.h"

namespace slipway::delivery::workflow {
namespace {

using cue::Cursor;

constexpr const char* kResult = "$result";

std::string in_words(const cue::Errors& errors) {
  std::string text;
  for (const cue::Error& error : errors) {
    if (!text.empty()) text += "; ";
    text += error.path.empty() ? error.message : fmt::format("{}: {}", error.path, error.message);
    if (text.size() > 1'000) break;
  }
  return text;
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

bool is_answered(const Evaluation& evaluation, const std::string& path) {
  return std::ranges::find(evaluation.answers, path, &Answered::path) != evaluation.answers.end();
}

bool is_incomplete(const cue::Errors& errors) {
  return std::ranges::all_of(errors, [](const cue::Error& error) { return error.code == "incomplete"; });
}

/// Without the parts that have no value.
Value concrete_part(const Cursor& cursor) {
  if (cursor.is_concrete()) {
    if (auto value = cursor.to_json()) return *value;
  }
  if (cursor.kind() == cue::Kind::Struct) {
    json::ObjectBuilder object;
    for (const cue::FieldCursor& field : cursor.fields()) {
      if (Value part = concrete_part(field.value); !part.is_null()) object.add(field.name, std::move(part));
    }
    return object.build();
  }
  if (cursor.kind() == cue::Kind::List) {
    json::ArrayBuilder list;
    for (const Cursor& item : cursor.items()) list.add(concrete_part(item));
    return list.build();
  }
  return {};
}

/// What of an answer can be unified with the parameters in the same struct: where they differ, for instance because a server
/// writes a quantity in another way, what was asked for stays.
Value agreeing(const Value& returned, const Value& given) {
  if (given.is_null() || returned == given) return returned;
  if (returned.is_object() && given.is_object()) {
    json::ObjectBuilder object;
    for (const auto& [key, value] : returned.members()) object.add(key, given.has(key) ? agreeing(value, given[key]) : value);
    return object.build();
  }
  if (returned.is_array() && given.is_array() && returned.size() == given.size()) {
    json::ArrayBuilder list;
    for (std::size_t i = 0; i < given.size(); ++i) list.add(agreeing(returned.item(i), given.item(i)));
    return list.build();
  }
  return given;
}

Cursor root_of(const Evaluation& evaluation) {
  std::vector<cue::Hole> holes;
  if (!evaluation.parameter.is_null()) holes.push_back({"parameter", evaluation.parameter});
  if (!evaluation.context.is_null()) holes.push_back({"context", evaluation.context});
  for (const Answered& answer : evaluation.answers) {
    if (answer.returns.is_null()) continue;
    if (answer.is_flat) {
      holes.push_back({answer.path, agreeing(answer.returns, answer.params)});
    } else {
      holes.push_back({answer.path + ".$returns", answer.returns});
    }
  }
  return cue::evaluate(evaluation.program->program, holes, evaluation.limits);
}

/// The parameters of a call, or why it has none.
std::expected<Value, std::string> params_of(const cue::Call& call, const Provider& provider, bool is_flat) {
  const Cursor from = is_flat ? call.value : call.value.field("$params");
  if (!is_flat && from.exists() && from.kind() != cue::Kind::Struct) {
    auto value = from.to_json();
    if (value) return *value;
    return std::unexpected(in_words(value.error()));
  }
  json::ObjectBuilder params;
  for (const cue::FieldCursor& field : from.fields()) {
    if (is_flat && !provider.takes_all && !contains(provider.params, field.name)) continue;
    if (provider.patches && field.name == "patch") {
      params.add(field.name, true);
      continue;
    }
    auto value = field.value.to_json();
    if (value) {
      params.add(field.name, std::move(*value));
    } else if (!provider.takes_incomplete || !is_incomplete(value.error())) {
      return std::unexpected(in_words(value.error()));
    }
  }
  return params.build();
}

void find_call(const Evaluation& evaluation, const Cursor& root, Evaluated& evaluated) {
  for (const cue::Call& call : cue::calls(root)) {
    if (call.function == "steps") continue;
    evaluated.has_calls = true;
    if (is_answered(evaluation, call.path)) continue;
    const Provider* provider = evaluation.providers->find(call.provider, call.function);
    if (provider == nullptr) {
      evaluated.error = fmt::format("NotImplemented: {}: there is no function {} of provider {}", call.path, call.function,
                                    call.provider.empty() ? "op" : call.provider);
      return;
    }
    const bool is_flat = Providers::is_flat(call.provider);
    auto params = params_of(call, *provider, is_flat);
    if (!params) {
      evaluated.error = fmt::format("function call error for {}: {}", call.path, params.error());
      return;
    }
    evaluated.call = NextCall{.path = call.path, .is_flat = is_flat, .provider = provider, .params = std::move(*params)};
    return;
  }
}

/// Along names; where there is none, within what a call in the new style has returned.
Cursor lookup_through_returns(const Cursor& root, const std::vector<PathPart>& parts) {
  Cursor at = root;
  for (const PathPart& part : parts) {
    const auto below = [&](const Cursor& cursor) {
      return part.index && cursor.kind() == cue::Kind::List ? cursor.item(*part.index) : cursor.field(part.name);
    };
    Cursor next = below(at);
    if (!next.exists()) next = below(at.field("$returns"));
    if (!next.exists()) return {};
    at = next;
  }
  return at;
}

bool is_identifier(std::string_view name) {
  if (name.empty() || is_digit(name.front())) return false;
  return std::ranges::all_of(
      name, [](char c) { return c == '_' || c == '$' || is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'z'); });
}

std::expected<Value, std::string> run_expression(const std::string& expression, const std::vector<cue::Hole>& holes,
                                                 const cue::Limits& limits) {
  cue::CompileOptions options = compile_options();
  options.open_names.clear();
  for (const cue::Hole& hole : holes) {
    if (is_identifier(hole.name) && !contains(options.open_names, hole.name)) {
      options.open_names.push_back(hole.name);
    }
  }
  auto program = cue::compile({{"expression", program_of(expression)}}, {}, options);
  if (!program) return std::unexpected(in_words(program.error()));
  const Cursor root = cue::evaluate(*program, holes, limits);
  auto value = root.field(kResult).to_json();
  if (!value) return std::unexpected(in_words(value.error()));
  return *value;
}

std::vector<cue::Hole> holes_of(const std::map<std::string, Value>& names, const std::string& expression) {
  std::vector<cue::Hole> holes;
  for (const auto& [name, value] : names) {
    if (is_identifier(name) && expression.contains(name)) holes.push_back({name, value});
  }
  return holes;
}

std::expected<Value, std::string> output_of(const Cursor& root, const StepOutput& output, const cue::Limits& limits) {
  if (auto path = parse_path(output.value_from)) {
    const Cursor found = lookup_through_returns(root, *path);
    if (found.exists()) {
      auto value = found.to_json();
      if (value) return *value;
      return std::unexpected(in_words(value.error()));
    }
  }
  std::vector<cue::Hole> holes;
  std::vector<cue::Hole> with_returns;
  for (const cue::FieldCursor& field : root.fields()) {
    if (!is_identifier(field.name) || !output.value_from.contains(field.name)) continue;
    holes.push_back({field.name, field.value});
    with_returns.push_back({field.name, concrete_part(field.value)});
    const Cursor returns = field.value.field("$returns");
    if (returns.exists()) with_returns.push_back({field.name, concrete_part(returns)});
  }
  auto value = run_expression(output.value_from, holes, limits);
  if (value) return value;
  auto through_returns = run_expression(output.value_from, with_returns, limits);
  return through_returns ? through_returns : value;
}

}  // namespace

Evaluated evaluate(const Evaluation& evaluation) {
  Evaluated evaluated;
  const Cursor root = root_of(evaluation);
  if (const cue::Errors errors = root.validate(cue::Demand::Valid); !errors.empty()) {
    evaluated.error = in_words(errors);
  } else if (!evaluation.is_last) {
    find_call(evaluation, root, evaluated);
    if (evaluated.call) return evaluated;
  }
  evaluated.value = concrete_part(root);
  for (const StepOutput& output : evaluation.outputs) {
    auto value = output_of(root, output, evaluation.limits);
    if (!value) evaluated.output_error += fmt::format("failed to get output from {}: {}\n", output.value_from, value.error());
    evaluated.outputs.emplace_back(output.name, value.value_or(Value()));
  }
  return evaluated;
}

Result<Value> patched(const Evaluation& evaluation, const std::string& path, const Value& base) {
  const Cursor root = root_of(evaluation);
  Cursor patch;
  for (const cue::Call& call : cue::calls(root)) {
    if (call.path != path) continue;
    const Cursor params = call.value.field("$params");
    patch = (params.exists() ? params : call.value).field("patch");
  }
  if (!patch.exists()) return base;
  auto holder = cue::compile({{"base", "base: _"}}, {}, {});
  if (!holder) return fail(Reason::InternalError, in_words(holder.error()));
  const cue::Hole hole{"base", base};
  const Cursor under = cue::evaluate(*holder, std::span(&hole, 1), evaluation.limits).field("base");
  auto changed = cue::apply_patch(under, patch, cue::patch_strategy(patch));
  if (!changed) return fail(Reason::Invalid, in_words(changed.error()));
  auto value = changed->to_json();
  if (!value) return fail(Reason::Invalid, in_words(value.error()));
  return *value;
}

/// `import "strconv"` and `import (…)` at the head stay there; the rest is one expression.
std::string program_of(std::string_view expression) {
  std::string imports;
  bool is_in_parentheses = false;
  while (true) {
    const std::string_view rest = trimmed(expression);
    if (!is_in_parentheses && !rest.starts_with("import")) return fmt::format("{}{}: {}", imports, kResult, rest);
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    if (line.contains('(')) is_in_parentheses = true;
    if (line.contains(')')) is_in_parentheses = false;
    imports += fmt::format("{}\n", line);
    if (end == rest.size()) return imports;
    expression = rest.substr(end);
  }
}

std::string expression_fault(const std::string& expression, const std::vector<std::string>& names) {
  cue::CompileOptions options = compile_options();
  options.open_names.clear();
  std::ranges::copy_if(names, std::back_inserter(options.open_names), is_identifier);
  const auto program = cue::compile({{"expression", program_of(expression)}}, {}, options);
  return program ? "" : in_words(program.error());
}

std::expected<Value, std::string> run_expression(const std::string& expression, const std::map<std::string, Value>& names,
                                                 const cue::Limits& limits) {
  return run_expression(expression, holes_of(names, expression), limits);
}

std::optional<Value> evaluate_expression(const std::string& expression, const std::map<std::string, Value>& names,
                                         const cue::Limits& limits) {
  auto value = run_expression(expression, names, limits);
  if (!value) return std::nullopt;
  return *value;
}

}  // namespace slipway::delivery::workflow
