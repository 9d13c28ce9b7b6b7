#include "cue/export/spelling.h"

#include "cue/eval/evaluator.h"
#include "cue/syntax/literal.h"
#include "cue/syntax/scanner.h"

namespace slipway::cue {
namespace {

bool means(const Token& token, const Value& value) {
  if (token.kind == Tok::Int || token.kind == Tok::Float) {
    if (!value.is_number()) return false;
    auto literal = parse_number(token.text);
    auto number = literal ? parse_decimal(literal->decimal) : std::nullopt;
    return number && compare(*number, to_decimal(value)) == 0;
  }
  bool is_text = value.tag == Value::Tag::String || value.tag == Value::Tag::Bytes;
  // A text over several lines is laid out anew.
  if (token.kind != Tok::String || !is_text || token.text.find('\n') != std::string_view::npos) return false;
  auto literal = unquote(token.text);
  return literal && literal->value == value.str() && literal->is_bytes == (value.tag == Value::Tag::Bytes);
}

}  // namespace

std::string_view spelling_of_item(const Evaluator& evaluator, const Vertex* item) {
  if (!item->label.is_index() || !item->base.is_concrete_scalar()) return {};
  for (const Conjunct& conjunct : item->conjuncts) {
    if (conjunct.expr->op != ir::Op::Constant) continue;
    std::string_view text = evaluator.program().sources.text_at(conjunct.expr->pos);
    if (text.empty()) continue;
    Token token = Scanner(text, 0, nullptr, nullptr).silent().next();
    if (means(token, item->base)) return token.text;
    if (token.kind == Tok::Int || token.kind == Tok::Float || token.kind == Tok::String) return {};
  }
  return {};
}

}  // namespace slipway::cue
