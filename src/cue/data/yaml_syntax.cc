#include "cue/data/yaml_syntax.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/digest.h"
#include "cue/data/source.h"
#include "cue/data/yaml.h"
#include "cue/syntax/literal.h"
#include "cue/syntax/parser.h"

// Nodes are told apart a few kinds at a time.
#pragma clang diagnostic ignored "-Wswitch-enum"

namespace slipway::cue {
namespace {

using NodeKind = ast::Kind;

/// As upstream's errors call the kinds of nodes.
std::string_view type_name(NodeKind kind) {
  switch (kind) {
    case NodeKind::Ident:
      return "*ast.Ident";
    case NodeKind::Interpolation:
      return "*ast.Interpolation";
    case NodeKind::Bottom:
      return "*ast.BottomLit";
    case NodeKind::Ellipsis:
      return "*ast.Ellipsis";
    case NodeKind::Selector:
      return "*ast.SelectorExpr";
    case NodeKind::Index:
      return "*ast.IndexExpr";
    case NodeKind::Slice:
      return "*ast.SliceExpr";
    case NodeKind::Call:
      return "*ast.CallExpr";
    case NodeKind::Unary:
      return "*ast.UnaryExpr";
    case NodeKind::Binary:
      return "*ast.BinaryExpr";
    case NodeKind::Paren:
      return "*ast.ParenExpr";
    case NodeKind::Alias:
      return "*ast.Alias";
    case NodeKind::Comprehension:
      return "*ast.Comprehension";
    case NodeKind::Let:
      return "*ast.LetClause";
    default:
      return "ast.Node";
  }
}

class Encoder {
 public:
  Encoder(std::string_view text, Pos base, std::span<const Comment> comments) : text_(text), base_(base), comments_(comments) {}

  Result<std::string> file(const ast::File& file) {
    if (!file.imports.empty()) {
      const ast::Import& first = file.imports[0];
      return fail(Reason::BadRequest,
                  fmt::format("yaml: unsupported node import {} (*ast.ImportDecl)", ast::as<ast::Literal>(*first.path).text));
    }
    Pos end = base_ + static_cast<Pos>(text_.size());
    SLIPWAY_TRY(body, declarations(file.decls, end, 0, false));
    while (body.starts_with('\n')) body.erase(0, 1);
    return body.ends_with('\n') ? body : body + "\n";
  }

 private:
  static std::string pad(int indent) { return std::string(static_cast<std::size_t>(indent), ' '); }

  std::unexpected<Status> refused(std::string_view why) { return fail(Reason::BadRequest, fmt::format("yaml: {}", why)); }
  std::unexpected<Status> unsupported(const ast::Node& node) {
    return refused(fmt::format("unsupported node {} ({})", shown(node), type_name(node.kind)));
  }

  // As upstream's debug text: operators without blanks.
  std::string shown(const ast::Node& node) const {
    if (node.kind == NodeKind::Binary) {
      const auto& binary = ast::as<ast::Binary>(node);
      return shown(*binary.left) + std::string(name(binary.op)) + shown(*binary.right);
    }
    return std::string(text_.substr(node.pos - base_, node.end > node.pos ? node.end - node.pos : 0));
  }

  // --- comments

  bool spans_lines(Pos from, Pos to) const {
    return to > from && text_.substr(from - base_, to - from).find('\n') != std::string_view::npos;
  }
  // Newlines between two places: 0 on one line, 1 directly below, 2 and more with a gap.
  std::size_t newlines(Pos from, Pos to) const {
    if (to <= from) return 0;
    std::string_view between = text_.substr(from - base_, to - from);
    return static_cast<std::size_t>(std::count(between.begin(), between.end(), '\n'));
  }
  static std::string line_of(const Comment& comment) { return "#" + std::string(comment.text.substr(2)); }
  static Pos end_of(const Comment& comment) { return comment.pos + static_cast<Pos>(comment.text.size()); }

  struct Group {
    Pos begin;
    Pos end;
    std::string lines;
  };
  // Those not told yet that stand before a place.
  std::vector<Group> groups_before(Pos place, int indent) {
    std::vector<Group> out;
    for (; next_ < comments_.size() && comments_[next_].pos < place; ++next_) {
      const Comment& one = comments_[next_];
      if (out.empty() || newlines(out.back().end, one.pos) > 1) out.push_back({one.pos, one.pos, ""});
      out.back().lines += pad(indent) + line_of(one) + "\n";
      out.back().end = end_of(one);
    }
    return out;
  }

  std::string behind(Pos end) {
    bool is_behind = next_ < comments_.size() && comments_[next_].pos >= end && newlines(end, comments_[next_].pos) == 0;
    return is_behind ? " " + line_of(comments_[next_++]) : "";
  }

  // What stands between two items: feet of the first, or where there is none before, heads of the second.
  struct Between {
    std::string foot;
    std::string head;
  };
  Between between(Pos last, Pos place, int indent, bool is_end) {
    Between out;
    auto groups = groups_before(place, indent);
    bool is_first = last == 0;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      bool documents = !is_end && i + 1 == groups.size() && newlines(groups[i].end, place) == 1;
      if (documents) {
        out.head += groups[i].lines;
      } else if (is_first) {
        out.head += groups[i].lines + "\n";
      } else {
        bool is_apart = i > 0 || newlines(last, groups[i].begin) > 1;
        out.foot += (is_apart ? "\n" : "") + groups[i].lines;
      }
    }
    return out;
  }

  // --- items

  /// The items' lines, each with its newline.
  template <class Item>
  Result<std::string> lines(ast::Nodes items, Pos end, int indent, Item&& item) {
    std::string out;
    Pos last = 0;
    for (const ast::Node* one : items) {
      Between comments = between(last, one->pos, indent, false);
      out += comments.foot;
      if (!comments.foot.empty()) out += "\n";
      SLIPWAY_TRY(text, item(*one));
      out += comments.head + pad(indent) + text;
      last = one->end;
      // A comma may stand before the comment.
      std::size_t at = last - base_;
      while (at < text_.size() && (text_[at] == ' ' || text_[at] == '\t' || text_[at] == ',')) ++at;
      std::string line =
          next_ < comments_.size() && comments_[next_].pos == base_ + at ? behind(base_ + static_cast<Pos>(at)) : "";
      out += line + "\n";
    }
    Between comments = between(last, end, indent, true);
    return out + comments.head + comments.foot;
  }

  bool is_embedding(const ast::Node& node) const { return node.kind != NodeKind::Field && node.kind != NodeKind::Attribute; }

  Result<std::string> declarations(ast::Nodes decls, Pos end, int indent, bool is_flow) {
    std::vector<ast::Node*> kept;
    std::size_t embedded = 0;
    for (ast::Node* one : decls) {
      if (one->kind == NodeKind::Attribute) continue;
      if (one->kind == NodeKind::Let || one->kind == NodeKind::Ellipsis || one->kind == NodeKind::Comprehension)
        return unsupported(*one);
      embedded += is_embedding(*one) ? 1 : 0;
      if (embedded > 1) return refused("multiple embedded values");
      kept.push_back(one);
      if (embedded > 0 && kept.size() > 1) return refused("embedding mixed with fields");
    }
    if (is_flow) return flow_fields(kept);
    return lines(kept, end, indent, [&](const ast::Node& one) -> Result<std::string> {
      if (one.kind == NodeKind::Field) return field(ast::as<ast::Field>(one), indent);
      SLIPWAY_TRY(text, value(one, indent, "", false));
      while (text.starts_with(' ') || text.starts_with('\n')) text.erase(0, 1);
      if (text.ends_with('\n')) text.pop_back();
      return text;
    });
  }

  Result<std::string> flow_fields(const std::vector<ast::Node*>& decls) {
    std::string out;
    for (const ast::Node* one : decls) {
      if (one->kind != NodeKind::Field) return value(*one, 0, "", true);
      SLIPWAY_TRY(label, key(ast::as<ast::Field>(*one)));
      SLIPWAY_TRY(text, value(*ast::as<ast::Field>(*one).value, 0, tag_of(ast::as<ast::Field>(*one)), true));
      out += (out.empty() ? "" : ", ") + label + ":" + text;
    }
    return out;
  }

  Result<std::string> key(const ast::Field& field) {
    if (field.label->kind == NodeKind::Ident) {
      std::string_view text = ast::as<ast::Ident>(*field.label).name;
      if (text.starts_with('_') || text.starts_with('#')) return refused("definition or hidden fields not allowed");
      if (field.mark != ast::Mark::Regular) return refused("optional fields not allowed");
      return yaml_key(text);
    }
    if (field.label->kind != NodeKind::Literal) return refused("only literal labels allowed");
    if (field.mark != ast::Mark::Regular) return refused("optional fields not allowed");
    const auto& literal = ast::as<ast::Literal>(*field.label);
    if (literal.tok != Tok::String) return yaml_key(literal.text);
    auto text = unquote(literal.text);
    if (!text) return refused(text.error().message);
    return yaml_key(text->value);
  }

  Result<std::string> field(const ast::Field& field, int indent) {
    SLIPWAY_TRY(label, key(field));
    SLIPWAY_TRY(text, value(*field.value, indent + 2, tag_of(field), false));
    if (text.ends_with('\n')) text.pop_back();
    return label + ":" + text;
  }

  // --- values

  // "!x" of an attribute @yaml(,tag="!x"), as YAML escapes it.
  static std::string tag_of(const ast::Field& field) {
    for (const ast::Attribute* one : field.attributes) {
      if (one->name != "yaml") continue;
      for (const AttributeArgument& argument : attribute_arguments(one->body)) {
        if (argument.key == "tag" && !argument.value.empty()) return escaped_tag(argument.value);
      }
    }
    return "";
  }
  static std::string escaped_tag(std::string_view tag) {
    std::string out;
    for (char c : tag) {
      auto byte = static_cast<unsigned char>(c);
      bool is_plain = byte < 0x80 &&
                      (std::isalnum(byte) != 0 || std::string_view("-;/?:@&=+$,_.~*'()[]!").find(c) != std::string_view::npos);
      out += is_plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
    }
    return tag.starts_with('!') ? out : "!<" + out + ">";
  }

  // What follows a key or a dash: " scalar", or a newline and lines indented by `indent`.
  Result<std::string> value(const ast::Node& node, int indent, const std::string& tag, bool is_flow) {
    std::string mark = tag.empty() ? "" : " " + tag;
    bool is_container = node.kind == NodeKind::List || node.kind == NodeKind::Struct;
    if (!is_container) {
      SLIPWAY_TRY(text, scalar(node, indent, is_flow));
      return mark + " " + text;
    }
    bool is_list = node.kind == NodeKind::List;
    bool is_braced = is_list || ast::as<ast::Struct>(node).is_braced;
    bool is_short = is_flow || (is_braced && !spans_lines(node.pos, node.end));
    ast::Nodes parts = is_list ? ast::as<ast::List>(node).items : ast::as<ast::Struct>(node).decls;
    if (parts.empty()) return mark + (is_list ? " []" : " {}");
    bool is_embedding_only = !is_list && parts.size() == 1 && is_embedding(*parts[0]) && parts[0]->kind != NodeKind::Let;
    if (is_embedding_only) return value(*parts[0], indent, tag, is_flow);
    if (is_short) {
      SLIPWAY_TRY(body, is_list ? flow_items(parts) : declarations(parts, node.end, indent, true));
      return mark + (is_list ? " [" + body + "]" : " {" + body + "}");
    }
    std::string above;
    for (const Group& one : groups_before(node.pos + (is_braced ? 1 : 0), indent)) above += one.lines;
    Pos end = is_braced ? node.end - 1 : node.end;
    SLIPWAY_TRY(body, is_list ? block_items(parts, end, indent) : declarations(parts, end, indent, false));
    return mark + "\n" + above + body;
  }

  Result<std::string> flow_items(ast::Nodes items) {
    std::string out;
    for (const ast::Node* one : items) {
      SLIPWAY_TRY(text, value(*one, 0, "", true));
      out += (out.empty() ? "" : ", ") + text.substr(1);
    }
    return out;
  }

  Result<std::string> block_items(ast::Nodes items, Pos end, int indent) {
    return lines(items, end, indent, [&](const ast::Node& one) -> Result<std::string> {
      SLIPWAY_TRY(text, value(one, indent + 2, "", false));
      // The first line of a block goes behind the dash.
      if (text.starts_with("\n" + pad(indent + 2)) && text.substr(1 + static_cast<std::size_t>(indent) + 2, 1) != "#")
        text = " " + text.substr(1 + static_cast<std::size_t>(indent) + 2);
      if (text.ends_with('\n')) text.pop_back();
      return "-" + text;
    });
  }

  Result<std::string> scalar(const ast::Node& node, int indent, bool is_flow) {
    if (node.kind == NodeKind::Unary) {
      const auto& unary = ast::as<ast::Unary>(node);
      bool is_number =
          unary.op == Tok::Sub && unary.operand->kind == NodeKind::Literal &&
          (ast::as<ast::Literal>(*unary.operand).tok == Tok::Int || ast::as<ast::Literal>(*unary.operand).tok == Tok::Float);
      if (!is_number) return unsupported(node);
      SLIPWAY_TRY(text, scalar(*unary.operand, indent, is_flow));
      return "-" + text;
    }
    if (node.kind != NodeKind::Literal) return unsupported(node);
    const auto& literal = ast::as<ast::Literal>(node);
    if (literal.tok == Tok::Int || literal.tok == Tok::Float) return number(literal.text);
    if (literal.tok != Tok::String) return std::string(literal.text);
    auto text = unquote(literal.text);
    if (!text) return refused(text.error().message);
    if (text->is_bytes) return "!!binary " + base64_encode(text->value);
    std::string_view opening = literal.text.substr(std::min(literal.text.find('"'), literal.text.size()));
    YamlTextForm form = is_flow                           ? YamlTextForm::Flow
                        : opening.starts_with("\"\"\"\n") ? YamlTextForm::Block
                                                          : YamlTextForm::Any;
    return yaml_text(text->value, indent, form);
  }

  // As written where YAML reads it alike; multipliers are written out.
  static Result<std::string> number(std::string_view text) {
    if (text.find_first_of("KMGTPi") == std::string_view::npos) return std::string(text);
    auto literal = parse_number(text);
    if (!literal) return fail(Reason::BadRequest, literal.error().message);
    return literal->decimal;
  }

  std::string_view text_;
  Pos base_;
  std::span<const Comment> comments_;
  std::size_t next_ = 0;
};

}  // namespace

Result<std::string> yaml_of_syntax(const SourceText& source) {
  Arena arena;
  Diagnostics diagnostics;
  constexpr Pos kBase = 1;
  ast::File* file = parse_file(source.name, source.text, kBase, arena, diagnostics, {});
  if (!diagnostics.empty()) return fail(Reason::BadRequest, diagnostics[0].message);
  return Encoder(source.text, kBase, file->comments).file(*file);
}

}  // namespace slipway::cue
