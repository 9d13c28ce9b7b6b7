#include "cue/data/source.h"

#include <fmt/format.h>

#include "cue/data/json_syntax.h"
#include "cue/data/yaml.h"
#include "cue/syntax/literal.h"
#include "cue/syntax/parser.h"

namespace slipway::cue {
namespace {

constexpr json::Limits kSourceLimits{.max_bytes = std::size_t{256} << 20, .max_depth = 500};

class Builder {
 public:
  Builder(const SourceText& source, Pos base, Arena& arena, Diagnostics& diagnostics)
      : has_names_(source.has_names), base_(base), arena_(arena), diagnostics_(diagnostics) {}

  ast::Literal* literal(Tok tok, std::string_view text, Pos pos) {
    auto* node = arena_.make<ast::Literal>();
    node->kind = ast::Kind::Literal;
    node->pos = node->end = pos;
    node->tok = tok;
    node->text = arena_.copy(text);
    return node;
  }

  ast::Node* field(std::string_view name, Pos pos, ast::Node* value) {
    auto* node = arena_.make<ast::Field>();
    node->kind = ast::Kind::Field;
    node->pos = node->end = pos;
    node->label = literal(Tok::String, quote(name), pos);
    node->value = value;
    return node;
  }

  /// `label` as it would be written: an identifier, or a text in quotes.
  ast::Node* labelled(std::string_view label, Pos pos, ast::Node* value) {
    auto* node = static_cast<ast::Field*>(field("", pos, value));
    if (label.starts_with('"')) {
      node->label = literal(Tok::String, label, pos);
    } else {
      auto* name = arena_.make<ast::Ident>();
      name->kind = ast::Kind::Ident;
      name->pos = name->end = pos;
      name->name = arena_.copy(label);
      node->label = name;
    }
    return node;
  }

  ast::Struct* structure(const std::vector<ast::Node*>& decls, Pos pos) {
    auto* node = arena_.make<ast::Struct>();
    node->kind = ast::Kind::Struct;
    node->pos = node->end = pos;
    node->decls = arena_.copy(decls);
    node->is_braced = true;
    return node;
  }

  ast::Node* yaml(const json::YamlNode& node) {
    Pos pos = base_ + static_cast<Pos>(node.offset);
    switch (node.kind) {
      case json::YamlNode::Kind::Scalar:
        return scalar(node, pos);
      case json::YamlNode::Kind::Sequence: {
        auto* list = arena_.make<ast::List>();
        list->kind = ast::Kind::List;
        list->pos = list->end = pos;
        std::vector<ast::Node*> items;
        for (const auto& child : node.children) items.push_back(yaml(*child));
        list->items = arena_.copy(items);
        return list;
      }
      case json::YamlNode::Kind::Mapping:
        break;
    }
    auto members = read_yaml_members(node);
    if (!members) return failed(members.error(), pos);
    std::vector<ast::Node*> decls;
    for (const YamlMember& one : *members) {
      bool is_name = has_names_ && is_identifier(one.key) && one.key[0] != '_' && one.key[0] != '#';
      Pos at = base_ + static_cast<Pos>(one.key_node->offset);
      decls.push_back(is_name ? labelled(one.key, at, yaml(*one.value)) : field(one.key, at, yaml(*one.value)));
    }
    return structure(decls, pos);
  }

  ast::Node* failed(const Status& status, Pos pos) {
    diagnostics_.push_back({pos, status.message});
    return literal(Tok::Null, "null", pos);
  }

 private:
  ast::Node* scalar(const json::YamlNode& node, Pos pos) {
    auto read = read_yaml_scalar(node);
    if (!read) return failed(read.error(), pos);
    switch (read->kind) {
      case YamlScalar::Kind::Null:
        return literal(Tok::Null, "null", pos);
      case YamlScalar::Kind::Bool:
        return literal(read->text == "true" ? Tok::True : Tok::False, read->text, pos);
      case YamlScalar::Kind::Bytes:
        return literal(Tok::String, quote_bytes(read->text), pos);
      case YamlScalar::Kind::Text:
        return literal(Tok::String, quote(read->text), pos);
      case YamlScalar::Kind::Number:
        break;
    }
    bool is_negative = read->text.starts_with('-');
    std::string_view digits = std::string_view(read->text).substr(is_negative ? 1 : 0);
    std::size_t zeros = std::min(digits.find_first_not_of('0'), digits.size() - 1);
    if (!read->is_float) digits.remove_prefix(zeros);
    ast::Node* number = literal(read->is_float ? Tok::Float : Tok::Int, digits, pos);
    if (is_negative) {
      auto* minus = arena_.make<ast::Unary>();
      minus->kind = ast::Kind::Unary;
      minus->pos = minus->end = pos;
      minus->op = Tok::Sub;
      minus->operand = number;
      number = minus;
    }
    return number;
  }

  bool has_names_;
  Pos base_;
  Arena& arena_;
  Diagnostics& diagnostics_;
};

ast::Node* data_tree(const SourceText& source, Pos base, Arena& arena, Diagnostics& diagnostics) {
  Builder builder(source, base, arena, diagnostics);
  switch (source.format) {
    case SourceFormat::Text:
      return builder.literal(Tok::String, quote(source.text), base);
    case SourceFormat::Binary:
      return builder.literal(Tok::String, quote_bytes(source.text), base);
    case SourceFormat::Json: {
      std::size_t before = diagnostics.size();
      auto problem = json_problem(source.text);
      ast::Node* tree = problem ? nullptr : parse_expression(source.text, base, arena, diagnostics);
      if (tree != nullptr) return tree;
      diagnostics.resize(before);
      if (!problem) problem = JsonProblem{0, "number or text out of range"};
      diagnostics.push_back({base + static_cast<Pos>(problem->offset), "invalid JSON: " + problem->message});
      return builder.literal(Tok::Null, "null", base);
    }
    case SourceFormat::Yaml:
    case SourceFormat::Cue:
      break;
  }
  auto documents = json::parse_yaml_nodes(source.text, kSourceLimits);
  if (!documents) return builder.failed(documents.error(), base);
  if (source.document >= documents->size()) return builder.literal(Tok::Null, "null", base);
  return builder.yaml(*(*documents)[source.document].root);
}

}  // namespace

ast::File* parse_source(const SourceText& source, Pos base, Arena& arena, Diagnostics& diagnostics) {
  if (source.format == SourceFormat::Cue) return parse_file(source.name, source.text, base, arena, diagnostics);
  Builder builder(source, base, arena, diagnostics);
  ast::Node* tree = data_tree(source, base, arena, diagnostics);
  for (std::size_t i = source.below.size(); i-- > 0;)
    tree = builder.structure({builder.labelled(source.below[i], base, tree)}, base);
  auto* file = arena.make<ast::File>();
  file->name = source.name;
  file->begin = base;
  file->is_data = true;
  if (tree->kind == ast::Kind::Struct) {
    file->decls = ast::as<ast::Struct>(*tree).decls;
  } else {
    std::vector<ast::Node*> decls = {tree};
    file->decls = arena.copy(decls);
  }
  return file;
}

std::vector<AttributeArgument> attribute_arguments(std::string_view body) {
  std::vector<AttributeArgument> out;
  std::string current;
  auto finish = [&] {
    auto trimmed = [](std::string text) {
      std::size_t begin = std::min(text.find_first_not_of(" \t\n"), text.size());
      std::size_t end = text.find_last_not_of(" \t\n");
      text = text.substr(begin, end == std::string::npos ? 0 : end - begin + 1);
      if (text.starts_with('"') || text.starts_with('#')) {
        if (auto plain = unquote(text)) return plain->value;
      }
      return text;
    };
    std::size_t equals = current.starts_with('"') ? std::string::npos : current.find('=');
    out.push_back(equals == std::string::npos
                      ? AttributeArgument{"", trimmed(current)}
                      : AttributeArgument{trimmed(current.substr(0, equals)), trimmed(current.substr(equals + 1))});
    current.clear();
  };
  bool is_quoted = false;
  for (std::size_t i = 0; i < body.size(); ++i) {
    char c = body[i];
    if (c == '\\' && is_quoted && i + 1 < body.size())
      current += body[i++];
    else if (c == '"')
      is_quoted = !is_quoted;
    if (c == ',' && !is_quoted)
      finish();
    else
      current += body[i];
  }
  if (!body.empty()) finish();
  return out;
}

}  // namespace slipway::cue
