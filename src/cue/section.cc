#include "cue/section.h"

#include <algorithm>
#include <set>
#include <vector>

#include "cue/syntax/scanner.h"

namespace slipway::cue {

namespace {

struct SectionRange {
  std::size_t begin;
  std::size_t end;
};

struct ImportSpec {
  std::string name;
  SectionRange range;
};

/// What stands at the top of a file, told by words and brackets alone.
struct Outline {
  std::vector<ImportSpec> imports;
  std::vector<SectionRange> import_words;    // "import", and its parentheses
  std::vector<SectionRange> fields;          // from the label on
  std::vector<SectionRange> values;          // without the braces around
  std::set<std::string, std::less<>> names;  // used inside the values
};

class Outliner {
 public:
  Outliner(std::string_view text, std::string_view name) : scanner_(text, 0, nullptr, nullptr), name_(name) { advance(); }

  Outline run() {
    while (token_.kind != Tok::Eof) {
      if (token_.kind == Tok::Ident && token_.text == "import" && !begins_field()) {
        imports();
      } else if (is_label()) {
        field();
      } else {
        skip_declaration();
      }
    }
    return std::move(outline_);
  }

 private:
  void advance() {
    last_ = token_;
    token_ = scanner_.next();
    // The expressions in a string are words like others; the string goes on at the bracket that closes them.
    if (token_.kind == Tok::Interpolation) open_.push_back({token_, depth_});
    if (token_.kind == Tok::LParen || token_.kind == Tok::LBrack || token_.kind == Tok::LBrace) ++depth_;
    if (token_.kind == Tok::RBrack || token_.kind == Tok::RBrace) --depth_;
    if (token_.kind != Tok::RParen) return;
    if (open_.empty() || open_.back().depth != depth_) {
      --depth_;
      return;
    }
    Token begin = open_.back().token;
    open_.pop_back();
    token_ = scanner_.resume(begin);
    if (token_.kind == Tok::Interpolation) open_.push_back({begin, depth_});
  }

  bool begins_field() { return scanner_.silent().next().kind == Tok::Colon; }

  bool is_label() {
    if (token_.kind != Tok::Ident && token_.kind != Tok::String) return false;
    std::string_view text = token_.text;
    if (token_.kind == Tok::String) text = text.size() < 2 ? text : text.substr(1, text.size() - 2);
    return text == name_ && begins_field();
  }

  bool at_end() const { return token_.kind == Tok::Eof || (token_.kind == Tok::Comma && depth_ == 0 && open_.empty()); }

  void skip_declaration() {
    while (!at_end()) advance();
    if (token_.kind == Tok::Comma) advance();
  }

  void imports() {
    outline_.import_words.push_back({token_.pos, token_.end()});
    advance();
    std::string alias;
    std::size_t begin = token_.pos;
    while (!at_end()) {
      if (token_.kind == Tok::LParen || token_.kind == Tok::RParen) outline_.import_words.push_back({token_.pos, token_.end()});
      if (token_.kind == Tok::Ident || token_.text == ".") {
        alias = token_.text;
        begin = token_.pos;
      }
      if (token_.kind == Tok::String) {
        std::string_view path = token_.text.substr(1, token_.text.size() - 2);
        std::size_t at = path.find_last_of(":/");
        std::string last(at == std::string_view::npos ? path : path.substr(at + 1));
        outline_.imports.push_back({alias.empty() ? last : alias, {alias.empty() ? token_.pos : begin, token_.end()}});
        alias.clear();
      }
      advance();
    }
    if (token_.kind == Tok::Comma) advance();
  }

  void field() {
    std::size_t begin = token_.pos;
    advance();  // the label
    advance();  // the colon
    bool is_braced = token_.kind == Tok::LBrace;
    std::size_t inside = is_braced ? token_.end() : token_.pos;
    Token end = token_;
    while (!at_end()) {
      if (token_.kind == Tok::Ident) outline_.names.emplace(token_.text);
      end = token_;
      advance();
    }
    outline_.fields.push_back({begin, end.end()});
    outline_.values.push_back({inside, is_braced && end.kind == Tok::RBrace ? end.pos : end.end()});
    if (token_.kind == Tok::Comma) advance();
  }

  struct Open {
    Token token;
    int depth;
  };
  Scanner scanner_;
  std::string_view name_;
  Token token_;
  Token last_;
  std::vector<Open> open_;
  int depth_ = 0;
  Outline outline_;
};

void blank(std::string& text, SectionRange range) {
  for (std::size_t i = range.begin; i < std::min(range.end, text.size()); ++i) {
    if (text[i] != '\n' && text[i] != '\r') text[i] = ' ';
  }
}

}  // namespace

std::string section(std::string_view text, std::string_view name) {
  Outline outline = Outliner(text, name).run();
  if (outline.values.empty()) return {};
  std::string out(text);
  blank(out, {0, out.size()});
  auto keep = [&](SectionRange range) {
    out.replace(range.begin, range.end - range.begin, text.substr(range.begin, range.end - range.begin));
  };
  bool has_imports = false;
  for (const ImportSpec& one : outline.imports) {
    if (!outline.names.contains(one.name)) continue;
    keep(one.range);
    has_imports = true;
  }
  if (has_imports) std::ranges::for_each(outline.import_words, keep);
  std::ranges::for_each(outline.values, keep);
  return out;
}

std::string without_section(std::string_view text, std::string_view name) {
  Outline outline = Outliner(text, name).run();
  std::string out(text);
  for (const ImportSpec& one : outline.imports) blank(out, one.range);
  for (SectionRange range : outline.import_words) blank(out, range);
  for (SectionRange range : outline.fields) blank(out, range);
  return out;
}

}  // namespace slipway::cue
