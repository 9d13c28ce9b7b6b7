// The text form of protocol buffers, as far as the conformance files of cel-spec use it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace slipway::cel {

/// A message, or a scalar in `text`.
struct ProtoNode {
  std::string name;
  std::string text;
  std::vector<ProtoNode> fields;

  /// The first field of the name; null when there is none.
  const ProtoNode* find(std::string_view wanted) const;
  std::vector<const ProtoNode*> all(std::string_view wanted) const;
  /// Text of a scalar field, or empty.
  std::string get(std::string_view wanted) const;
};

ProtoNode parse_textproto(std::string_view text);

}  // namespace slipway::cel
