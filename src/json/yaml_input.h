// How texts are handed to libyaml. Internal to the readers of YAML.
#pragma once

#include <yaml.h>

#include <string_view>

namespace slipway::json {

/// `text` must outlive the parser. The text of an absent value has no address, which libyaml ends the process over.
inline void set_yaml_input(yaml_parser_t& parser, std::string_view text) {
  const char* bytes = text.empty() ? "" : text.data();
  yaml_parser_set_input_string(&parser, reinterpret_cast<const unsigned char*>(bytes), text.size());
}

}  // namespace slipway::json
