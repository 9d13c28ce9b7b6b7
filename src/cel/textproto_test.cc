#include "cel/textproto_test.h"

#include "cel/lexer.h"

namespace slipway::cel {
namespace {

class TextprotoReader {
 public:
  explicit TextprotoReader(std::string_view text) : text_(text) {}

  void fields(ProtoNode& into) {
    for (skip(); at_ < text_.size() && text_[at_] != '}' && text_[at_] != '>'; skip()) {
      ProtoNode& first = into.fields.emplace_back();
      first.name = name();
      skip();
      const bool has_colon = take(':');
      skip();
      if (has_colon && take('[')) {
        const std::string shared = first.name;
        into.fields.pop_back();
        for (skip(); !take(']'); skip()) {
          if (take(',')) continue;
          into.fields.emplace_back().name = shared;
          value(into.fields.back());
        }
      } else {
        value(first);
      }
      skip();
      if (!take(',')) take(';');
    }
  }

 private:
  void skip() {
    while (at_ < text_.size()) {
      if (text_[at_] == '#') {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else if (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r') {
        ++at_;
      } else {
        return;
      }
    }
  }
  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::string name() {
    const std::size_t begin = at_;
    if (take('[')) {
      while (at_ < text_.size() && text_[at_] != ']') ++at_;
      ++at_;
    } else {
      while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_')) ++at_;
      if (at_ == begin) ++at_;  // not a name: go on anyway
    }
    return std::string(text_.substr(begin, at_ - begin));
  }
  void value(ProtoNode& node) {
    if (take('{') || take('<')) {
      fields(node);
      ++at_;
      return;
    }
    if (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'')) {
      while (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'')) {
        node.text += quoted();
        skip();
      }
      return;
    }
    const std::size_t begin = at_;
    while (at_ < text_.size() && std::string_view(" \n\t\r,;{}[]#").find(text_[at_]) == std::string_view::npos) ++at_;
    node.text = text_.substr(begin, at_ - begin);
  }
  /// Escapes are those of CEL, nearly: bytes literals read octal and hexadecimal as bytes.
  std::string quoted() {
    const std::size_t begin = at_;
    const char quote = text_[at_++];
    while (at_ < text_.size() && text_[at_] != quote) at_ += text_[at_] == '\\' ? 2 : 1;
    ++at_;
    const std::string raw(text_.substr(begin, at_ - begin));
    for (const std::string prefix : {"b", ""}) {
      const auto tokens = tokens_of(prefix + raw);
      if (tokens) return tokens->front().text;
    }
    return raw;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

const ProtoNode* ProtoNode::find(std::string_view wanted) const {
  for (const ProtoNode& field : fields) {
    if (field.name == wanted) return &field;
  }
  return nullptr;
}

std::vector<const ProtoNode*> ProtoNode::all(std::string_view wanted) const {
  std::vector<const ProtoNode*> out;
  for (const ProtoNode& field : fields) {
    if (field.name == wanted) out.push_back(&field);
  }
  return out;
}

std::string ProtoNode::get(std::string_view wanted) const {
  const ProtoNode* field = find(wanted);
  return field != nullptr ? field->text : std::string();
}

ProtoNode parse_textproto(std::string_view text) {
  ProtoNode root;
  TextprotoReader(text).fields(root);
  return root;
}

}  // namespace slipway::cel
