#include "delivery/application/render_error.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text.h"

namespace slipway::delivery::application {

namespace {

/// The path with the parameter under the name that users read about; empty when it lies elsewhere.
std::string parameter_path(const std::string& path, const Definition& definition) {
  const std::string& field = definition.parameter_field;
  if (!path.starts_with(field)) return "";
  const std::string_view rest = std::string_view(path).substr(field.size());
  return rest.empty() || rest.front() == '.' ? fmt::format("parameter{}", rest) : "";
}

/// " (web:12:5, web:30:9)": the places in the definition's template.
std::string places(const cue::Error& error) {
  std::string out;
  for (const cue::Position& at : error.positions)
    out += fmt::format("{}{}:{}:{}", out.empty() ? " (" : ", ", at.file, at.line, at.column);
  return out.empty() ? out : out + ")";
}

std::string said(const cue::Error& error) {
  if (!error.expected.empty() && !error.got.empty()) return fmt::format("must be {}, but is {}", error.expected, error.got);
  std::string_view message = trimmed(error.message);
  if (message.ends_with(':')) message.remove_suffix(1);
  return std::string(message);
}

std::string with_hint(const cue::Error& error) {
  return error.hint.empty() ? said(error) : fmt::format("{} ({})", said(error), error.hint);
}

/// What a failed disjunction is told by: all that it allows, else the disjunct that came closest.
const cue::Error& closest_of(const cue::Error& error) {
  const cue::Error* at = &error;
  while (!at->closest.empty() && at->got.empty()) at = &at->closest[0];
  return *at;
}

/// Errors of single disjuncts say less than the one that sums them up.
bool is_summed_up(const cue::Error& error, const cue::Errors& all) {
  return std::ranges::any_of(all, [&](const cue::Error& sum) {
    const bool is_sum = !sum.closest.empty() || (sum.message.ends_with("empty disjunction:") && !sum.got.empty());
    if (!is_sum || &sum == &error) return false;
    return error.path == sum.path ? error.closest.empty() : error.path.starts_with(sum.path + ".");
  });
}

}  // namespace

std::string to_string(const RenderError& error) {
  std::string out = "component " + error.component;
  if (!error.trait.empty()) out += ", trait " + error.trait;
  return out + ": " + error.message;
}

std::string describe_error(const cue::Error& error, const Definition& definition) {
  const cue::Error& told = closest_of(error);
  if (&told != &error) return describe_error(told, definition);
  std::string path = parameter_path(error.path, definition);
  if (path.empty()) path = error.path;
  return path.empty() ? with_hint(error) : fmt::format("{}: {}", path, with_hint(error));
}

RenderError error_about(std::vector<ParameterFault> parameters) {
  RenderError out{.field = parameters.front().field, .is_user_error = true};
  for (const ParameterFault& one : parameters) {
    out.message += fmt::format("{}{}: {}", out.message.empty() ? "" : "; ", one.field, one.message);
  }
  out.parameters = std::move(parameters);
  return out;
}

RenderError describe_errors(const cue::Errors& errors, const Definition& definition, Places shown) {
  std::vector<ParameterFault> users;
  std::vector<std::string> others;
  for (const cue::Error& one : errors) {
    if (is_summed_up(one, errors)) continue;
    const cue::Error& told = closest_of(one);
    std::string path = parameter_path(told.path, definition);
    if (path.empty()) {
      const std::string text = describe_error(one, definition);
      others.push_back(shown == Places::Shown ? text + places(one) : text);
    } else {
      users.push_back({std::move(path), with_hint(told)});
    }
  }
  return users.empty() ? RenderError{.message = joined(others, "; ")} : error_about(std::move(users));
}

std::vector<ParameterFault> missing_parameters(const cue::Cursor& root, const Definition& definition) {
  std::vector<ParameterFault> out;
  for (const cue::Error& one : root.field(definition.parameter_field).validate(cue::Demand::Concrete)) {
    std::string path = parameter_path(one.path, definition);
    if (path.empty() || one.code != "incomplete") continue;
    out.push_back({std::move(path), one.expected.empty() ? "required" : fmt::format("required ({})", one.expected), true});
  }
  return out;
}

bool are_incomplete(const cue::Errors& errors) {
  return std::ranges::all_of(errors, [](const cue::Error& one) { return one.code == "incomplete" || one.code == "cycle"; });
}

}  // namespace slipway::delivery::application
