#include "json/yaml_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "json/yaml_event.h"
#include "json/yaml_input.h"

namespace slipway::json {
namespace {

struct Open {
  std::shared_ptr<YamlNode> node;
  std::string anchor;
  std::size_t weight = 1;
};
struct NodeAnchor {
  std::shared_ptr<const YamlNode> node;
  std::size_t weight = 1;
};

class NodeReader {
 public:
  NodeReader(std::string_view text, const Limits& limits) : text_(text), limits_(limits) {
    lines_.push_back(0);
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\n') lines_.push_back(i + 1);
    }
    ready_ = yaml_parser_initialize(&parser_) != 0;
    if (ready_) set_yaml_input(parser_, text);
  }
  NodeReader(const NodeReader&) = delete;
  NodeReader& operator=(const NodeReader&) = delete;
  ~NodeReader() {
    if (ready_) yaml_parser_delete(&parser_);
  }

  Result<std::vector<YamlNodeDocument>> read() {
    if (!ready_) return fail(Reason::InternalError, "yaml: out of memory");
    while (true) {
      YamlEvent event;
      if (yaml_parser_parse(&parser_, &event.raw) == 0) return parser_failed();
      if (event.raw.type == YAML_STREAM_END_EVENT) return std::move(documents_);
      SLIPWAY_TRY_VOID(take(event.raw));
    }
  }

 private:
  static std::unexpected<Status> failed(const yaml_mark_t& mark, std::string_view why) {
    return fail(Reason::BadRequest, fmt::format("yaml: line {}, column {}: {}", mark.line + 1, mark.column + 1, why));
  }

  std::unexpected<Status> parser_failed() const {
    std::string_view problem = parser_.problem != nullptr ? parser_.problem : "unknown problem";
    return failed(parser_.problem_mark, problem);
  }

  // libyaml counts characters; a column is turned into bytes along its line.
  std::size_t offset_of(const yaml_mark_t& mark) const {
    if (mark.line >= lines_.size()) return text_.size();
    std::size_t at = lines_[mark.line];
    if (mark.line == 0 && text_.starts_with("\xEF\xBB\xBF")) at += 3;
    for (std::size_t left = mark.column; left > 0 && at < text_.size(); --left) {
      ++at;
      while (at < text_.size() && (static_cast<unsigned char>(text_[at]) & 0xC0) == 0x80) ++at;
    }
    return at;
  }

  std::shared_ptr<YamlNode> make(YamlNode::Kind kind, const yaml_event_t& event, const yaml_char_t* tag) const {
    auto node = std::make_shared<YamlNode>();
    node->kind = kind;
    node->tag = yaml_text(tag);
    if (node->tag.starts_with(kYamlTagPrefix)) node->tag.erase(0, kYamlTagPrefix.size());
    node->line = event.start_mark.line + 1;
    node->offset = offset_of(event.start_mark);
    return node;
  }

  Result<void> take(const yaml_event_t& event) {
    switch (event.type) {
      case YAML_DOCUMENT_START_EVENT:
        anchors_.clear();
        return {};
      case YAML_SCALAR_EVENT: {
        const auto& data = event.data.scalar;
        auto node = make(YamlNode::Kind::Scalar, event, data.tag);
        node->text.assign(reinterpret_cast<const char*>(data.value), data.length);
        node->is_plain = data.style == YAML_PLAIN_SCALAR_STYLE && data.plain_implicit != 0 && node->tag.empty();
        remember(std::string(yaml_text(data.anchor)), node, data.length + 1);
        return add(node, data.length + 1, node->is_plain && node->text.empty() && data.anchor == nullptr);
      }
      case YAML_ALIAS_EVENT: {
        auto found = anchors_.find(std::string(yaml_text(event.data.alias.anchor)));
        if (found == anchors_.end())
          return failed(event.start_mark, fmt::format("unknown anchor '{}' referenced", yaml_text(event.data.alias.anchor)));
        if (found->second.node == nullptr) return failed(event.start_mark, "anchor contains itself");
        expanded_ += found->second.weight;
        if (expanded_ > limits_.max_bytes) return failed(event.start_mark, "aliases expand to too much");
        return add(found->second.node, found->second.weight, false);
      }
      case YAML_SEQUENCE_START_EVENT:
      case YAML_MAPPING_START_EVENT: {
        if (open_.size() >= limits_.max_depth) return failed(event.start_mark, "nested too deeply");
        bool is_mapping = event.type == YAML_MAPPING_START_EVENT;
        auto node = make(is_mapping ? YamlNode::Kind::Mapping : YamlNode::Kind::Sequence, event,
                         is_mapping ? event.data.mapping_start.tag : event.data.sequence_start.tag);
        std::string anchor(yaml_text(is_mapping ? event.data.mapping_start.anchor : event.data.sequence_start.anchor));
        if (!anchor.empty()) anchors_[anchor] = {};
        open_.push_back({node, anchor});
        return {};
      }
      case YAML_SEQUENCE_END_EVENT:
      case YAML_MAPPING_END_EVENT: {
        Open done = std::move(open_.back());
        open_.pop_back();
        remember(done.anchor, done.node, done.weight);
        return add(done.node, done.weight, false);
      }
      case YAML_NO_EVENT:
      case YAML_STREAM_START_EVENT:
      case YAML_STREAM_END_EVENT:
      case YAML_DOCUMENT_END_EVENT:
        break;
    }
    return {};
  }

  void remember(const std::string& anchor, const std::shared_ptr<YamlNode>& node, std::size_t weight) {
    if (!anchor.empty()) anchors_[anchor] = {node, weight};
  }

  Result<void> add(const std::shared_ptr<const YamlNode>& node, std::size_t weight, bool is_empty) {
    if (open_.empty()) {
      documents_.push_back({node, is_empty});
      return {};
    }
    open_.back().node->children.push_back(node);
    open_.back().weight += weight;
    return {};
  }

  std::string_view text_;
  const Limits& limits_;
  yaml_parser_t parser_{};
  bool ready_ = false;
  std::vector<std::size_t> lines_;
  std::vector<YamlNodeDocument> documents_;
  std::map<std::string, NodeAnchor> anchors_;
  std::vector<Open> open_;
  std::size_t expanded_ = 0;
};

}  // namespace

Result<std::vector<YamlNodeDocument>> parse_yaml_nodes(std::string_view text, Limits limits) {
  if (text.size() > limits.max_bytes) return fail(Reason::RequestEntityTooLarge, "yaml: text is too large");
  return NodeReader(text, limits).read();
}

}  // namespace slipway::json
