// Where in a YAML (or JSON) text a member of a document stands, so that an error about a value can name the line that a person
// has to change.
#pragma once

#include <cstddef>
#include <string_view>

namespace slipway::json {

/// The line, from 1, of the member `path` of the document that begins in line `document_line` (YamlDocument::line); where the
/// document has no such member, that of the nearest one around it. `path` is like `spec.components[0].properties.image` (or
/// `components.0`); a name with other characters than letters, digits, `-` and `_` is written `["a.b"]`. What merge keys bring
/// is not looked at.
std::size_t yaml_line(std::string_view text, std::size_t document_line, std::string_view path);

}  // namespace slipway::json
