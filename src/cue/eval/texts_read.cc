// Places in texts that functions have read.
#include "cue/eval/texts_read.h"

#include <algorithm>

#include "cue/data/source.h"

namespace slipway::cue {

namespace {

std::span<ast::Node* const> members_of(const ast::Node& node) {
  if (node.kind == ast::Kind::Struct) return ast::as<ast::Struct>(node).decls;
  if (node.kind == ast::Kind::List) return ast::as<ast::List>(node).items;
  return {};
}

// The node of that number; 0 is the first.
const ast::Node* numbered(std::span<ast::Node* const> members, Pos& number) {
  for (const ast::Node* one : members) {
    if (number-- == 0) return one;
    if (one->kind == ast::Kind::Field) {
      one = ast::as<ast::Field>(*one).value;
      if (number-- == 0) return one;
    }
    if (const ast::Node* found = numbered(members_of(*one), number)) return found;
  }
  return nullptr;
}

}  // namespace

std::optional<FoundPlace> TextsRead::find(Pos pos) const {
  auto after = std::ranges::upper_bound(texts_, pos, {}, [](const ReadText& one) { return one.first; });
  if (pos < kFirst || after == texts_.begin()) return std::nullopt;
  const ReadText& read = *std::prev(after);
  SourceText source{
      .name = read.reader, .text = std::string(read.text.text), .format = read.text.format, .document = read.text.document};
  Arena arena;
  SourceMap places;
  Pos base = places.add(source.name, source.text);
  Diagnostics ignored;
  std::span<ast::Node* const> members = parse_source(source, base, arena, ignored)->decls;
  if (members.size() == 1 && members[0]->kind == ast::Kind::List) members = members_of(*members[0]);
  Pos number = pos - read.first;
  const ast::Node* node = numbered(members, number);
  if (node == nullptr) return std::nullopt;
  Location at = places.locate(node->pos);
  return FoundPlace{read.reader, at.line, at.column};
}

}  // namespace slipway::cue
