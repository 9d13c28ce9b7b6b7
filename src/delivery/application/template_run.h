// One template evaluated for one component: with its parameter and context, the answers to what it asks of providers, and its
// own list of errors.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "delivery/application/render.h"

namespace slipway::delivery::application {

struct TemplateRun {
  std::string place;  // "component", "trait 0": begins the keys of its calls
  const Definition& definition;
  Value parameter;                 // null: none is given
  std::vector<cue::Hole> context;  // `context` and what lies below it
  const std::map<std::string, Value>& answers;
  cue::Limits limits;
};

/// The evaluated template without errors, the next call that has no answer yet, or what is wrong (without the component's
/// name).
std::variant<cue::Cursor, TemplateCall, RenderError> run_template(TemplateRun run);

}  // namespace slipway::delivery::application
