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

/// What a failed disjunction is told by: all that it allows, else the disjunct that came closest.
const cue::Error& closest_of(const cue::Error& error) {
  return error.closest.empty() || !error.got.empty() ? error : error.closest[0];
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
  if (const cue::Error& told = closest_of(error); &told != &error) return describe_error(told, definition);
  std::string path = parameter_path(error.path, definition);
  if (path.empty()) path = error.path;
  std::string out = path.empty() ? said(error) : fmt::format("{}: {}", path, said(error));
  return error.hint.empty() ? out : fmt::format("{} ({})", out, error.hint);
}

RenderError describe_errors(const cue::Errors& errors, const Definition& definition, Places shown) {
  RenderError out;
  std::vector<std::string> users, others;
  for (const cue::Error& one : errors) {
    if (is_summed_up(one, errors)) continue;
    const std::string path = parameter_path(closest_of(one).path, definition);
    const std::string text = describe_error(one, definition);
    if (path.empty()) {
      others.push_back(shown == Places::Shown ? text + places(one) : text);
    } else {
      if (users.empty()) out.field = path;
      users.push_back(text);
    }
  }
  out.is_user_error = !users.empty();
  out.message = joined(users.empty() ? others : users, "; ");
  return out;
}

MissingParameters missing_parameters(const cue::Cursor& root, const Definition& definition) {
  MissingParameters out;
  std::vector<std::string> texts;
  for (const cue::Error& one : root.field(definition.parameter_field).validate(cue::Demand::Concrete)) {
    const std::string path = parameter_path(one.path, definition);
    if (path.empty() || one.code != "incomplete") continue;
    if (texts.empty()) out.field = path;
    texts.push_back(path + ": required" + (one.expected.empty() ? "" : fmt::format(" ({})", one.expected)));
  }
  out.message = joined(texts, "; ");
  return out;
}

bool are_incomplete(const cue::Errors& errors) {
  return std::ranges::all_of(errors, [](const cue::Error& one) { return one.code == "incomplete" || one.code == "cycle"; });
}

}  // namespace slipway::delivery::application
