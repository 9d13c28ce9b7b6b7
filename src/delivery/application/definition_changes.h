// Which definitions have changed since an application's revision froze them. Without the annotation autoUpdate the frozen ones
// go on being used; status and `why` say that there are newer ones (kubevela/kubevela#7163). Pure.
#pragma once

#include <string>
#include <vector>

#include "delivery/application/parsed.h"

namespace slipway::delivery::application {

/// The condition that tells it; there only while it is so.
inline constexpr const char* kDefinitionChanged = "DefinitionChanged";

/// "TraitDefinition scaler", in order; those that are gone count too, and global policies that are new.
/// A `live` without global policies says nothing of them.
std::vector<std::string> changed_definitions(const Parsed& parsed, const Lookup& live);
/// What an application's spec names: "ComponentDefinition/webservice", each once. For finding applications by a definition.
std::vector<std::string> named_definitions(const Value& spec);

}  // namespace slipway::delivery::application
