// YAML as it was written: nodes with tags, styles and places, aliases written out. What a scalar means is for the reader to
// say; this is for languages whose scalars mean something else than sigs.k8s.io/yaml's.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "json/text.h"

namespace slipway::json {

struct YamlNode {
  enum class Kind : std::uint8_t { Scalar, Sequence, Mapping };
  Kind kind = Kind::Scalar;
  bool is_plain = false;   // a scalar without quotes and without a tag
  std::string tag;         // without "tag:yaml.org,2002:" when it is one of those; empty when there is none
  std::string text;        // of a scalar
  std::size_t offset = 0;  // bytes from the start of the text
  std::size_t line = 1;
  /// Items, or keys and values by turns. Shared where an alias repeats them.
  std::vector<std::shared_ptr<const YamlNode>> children;
};

struct YamlNodeDocument {
  std::shared_ptr<const YamlNode> root;
  bool is_empty = false;  // nothing between the marks
};

/// Every document, empty ones too; none for a text without any. BadRequest "yaml: line 3, column 7: …".
Result<std::vector<YamlNodeDocument>> parse_yaml_nodes(std::string_view text, Limits limits = {});

}  // namespace slipway::json
