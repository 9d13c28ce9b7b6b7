// From errors of CUE to one that names what its reader can change: a parameter of the component or trait where that is wrong or
// missing, else a place in the template.
#pragma once

#include <cstdint>
#include <string>

#include "cue/cue.h"
#include "delivery/application/definition.h"
#include "delivery/application/render.h"

namespace slipway::delivery::application {

/// Whether messages name the places in templates; they help only the author of the template.
enum class Places : std::uint8_t { Shown, Hidden };

/// Faults of an evaluated template. Those of parameters hide the others, which mostly follow from them.
RenderError describe_errors(const cue::Errors& errors, const Definition& definition, Places shown = Places::Shown);

/// Parameters of an evaluated template that have no value though they must: "required (string)".
std::vector<ParameterFault> missing_parameters(const cue::Cursor& root, const Definition& definition);

/// The error of a user who gave these parameters. REQUIRES: at least one.
RenderError error_about(std::vector<ParameterFault> parameters);

/// True when more data could help: nothing contradicts anything.
bool are_incomplete(const cue::Errors& errors);

/// One error on one line: path, both sides or the message, hint; of a failed disjunction what came closest.
std::string describe_error(const cue::Error& error, const Definition& definition);

}  // namespace slipway::delivery::application
