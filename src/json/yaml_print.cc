// Values as YAML, by libyaml's emitter with the choices of kubectl -o yaml: sequences are not indented below their key, strings
// are quoted when they would read back as something else, texts of several lines are literal blocks. DIVERGES: long lines are
// never folded.
#include <algorithm>

#include <yaml.h>

#include "json/text.h"
#include "json/utf8.h"
#include "json/yaml_scalar.h"

namespace slipway::json {

namespace {

class YamlWriter {
 public:
  YamlWriter() {
    yaml_emitter_initialize(&emitter_);
    yaml_emitter_set_output(&emitter_, &YamlWriter::write, &out_);
    yaml_emitter_set_unicode(&emitter_, 1);
    yaml_emitter_set_width(&emitter_, -1);
  }
  YamlWriter(const YamlWriter&) = delete;
  YamlWriter& operator=(const YamlWriter&) = delete;
  ~YamlWriter() { yaml_emitter_delete(&emitter_); }

  std::string document(const Value& value) {
    yaml_event_t event;
    yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING);
    yaml_emitter_emit(&emitter_, &event);
    yaml_document_start_event_initialize(&event, nullptr, nullptr, nullptr, 1);
    yaml_emitter_emit(&emitter_, &event);
    node(value);
    yaml_document_end_event_initialize(&event, 1);
    yaml_emitter_emit(&emitter_, &event);
    // Without it a literal block that keeps its last newlines ends in "...".
    emitter_.open_ended = 0;
    yaml_stream_end_event_initialize(&event);
    yaml_emitter_emit(&emitter_, &event);
    return std::move(out_);
  }

 private:
  static int write(void* data, unsigned char* bytes, std::size_t size) {
    static_cast<std::string*>(data)->append(reinterpret_cast<const char*>(bytes), size);
    return 1;
  }

  void node(const Value& value) {
    yaml_event_t event;
    if (value.is_object()) {
      yaml_mapping_start_event_initialize(&event, nullptr, nullptr, 1, YAML_BLOCK_MAPPING_STYLE);
      yaml_emitter_emit(&emitter_, &event);
      for (auto [key, member] : value.members()) {
        string(key);
        node(member);
      }
      yaml_mapping_end_event_initialize(&event);
      yaml_emitter_emit(&emitter_, &event);
    } else if (value.is_array()) {
      yaml_sequence_start_event_initialize(&event, nullptr, nullptr, 1, YAML_BLOCK_SEQUENCE_STYLE);
      yaml_emitter_emit(&emitter_, &event);
      for (const Value& item : value.items()) node(item);
      yaml_sequence_end_event_initialize(&event);
      yaml_emitter_emit(&emitter_, &event);
    } else if (value.is_string()) {
      string(value.as_string());
    } else {
      scalar(print(value), YAML_PLAIN_SCALAR_STYLE);
    }
  }

  void string(std::string_view text) {
    if (text.find('\n') != std::string_view::npos) return scalar(text, YAML_LITERAL_SCALAR_STYLE);
    const bool plain = !resolve_plain(text) && !needs_quotes_elsewhere(text) && text != "<<";
    scalar(text, plain ? YAML_PLAIN_SCALAR_STYLE : YAML_DOUBLE_QUOTED_SCALAR_STYLE);
  }

  // The emitter turns a style that cannot hold the text into one that can.
  void scalar(std::string_view text, yaml_scalar_style_t style) {
    std::string clean;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t bytes = utf8_character(text.substr(at));
      clean += bytes == 0 ? std::string_view("\uFFFD") : text.substr(at, bytes);
      at += std::max<std::size_t>(bytes, 1);
    }
    yaml_event_t event;
    const auto* start = reinterpret_cast<const yaml_char_t*>(clean.data());
    yaml_scalar_event_initialize(&event, nullptr, nullptr, start, static_cast<int>(clean.size()), 1, 1, style);
    yaml_emitter_emit(&emitter_, &event);
  }

  yaml_emitter_t emitter_{};
  std::string out_;
};

}  // namespace

std::string print_yaml(const Value& value) { return YamlWriter().document(value); }

}  // namespace slipway::json
