// Fields that a served kind does not have: as for kinds of definitions, a write with them is refused under
// fieldValidation=Strict and warned of under Warn. In both cases, and without either, they are not kept.
#pragma once

#include "client/served.h"
#include "json/value.h"

namespace slipway::delivery::package {

/// A verb that writes, with what is sent judged by the kind's openAPIV3Schema before. A JSON patch is not judged: it is no
/// object. BadRequest "strict decoding error: unknown field "spec.x"" of objects, Invalid of patches.
client::AnsweredVerb with_known_fields(client::AnsweredVerb row, const json::Value& schema);

}  // namespace slipway::delivery::package
