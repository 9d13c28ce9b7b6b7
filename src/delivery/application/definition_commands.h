// `slipway def`: definitions in files and in a cluster are vetted, printed as objects, applied, listed and described.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "delivery/family.h"

namespace slipway::delivery::application {

std::vector<Command> definition_commands();

/// One parameter of a template, as its author has documented it with `// +usage=`.
struct ParameterDoc {
  std::string name;  // "ports.port" for one below another
  std::string type;  // as it is written: "*false | bool"
  bool is_optional = false;
  std::string usage{};
};
/// Reads the `parameter` struct of a template's text, without evaluating it: one entry per line that declares a field.
/// `#Name` stands for the fields of that definition. Parameters of any name are one entry called "*".
std::vector<ParameterDoc> parameter_docs(const std::string& text);

/// A reference of definition objects as Markdown: by kind and name, each with its description and parameters.
std::string definitions_reference(std::vector<json::Value> definitions);

}  // namespace slipway::delivery::application
