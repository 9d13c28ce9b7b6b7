// An event of libyaml's parser that cleans up after itself, for both readers of YAML (values, and nodes with places).
#pragma once

#include <yaml.h>

#include <string_view>

namespace slipway::json {

constexpr std::string_view kYamlTagPrefix = "tag:yaml.org,2002:";

struct YamlEvent {
  yaml_event_t raw{};
  YamlEvent() = default;
  YamlEvent(const YamlEvent&) = delete;
  YamlEvent& operator=(const YamlEvent&) = delete;
  ~YamlEvent() { yaml_event_delete(&raw); }
};

/// The empty text for none.
inline std::string_view yaml_text(const yaml_char_t* text) {
  return text != nullptr ? reinterpret_cast<const char*>(text) : std::string_view();
}

}  // namespace slipway::json
