#include "cue/compile/label.h"

#include "cue/syntax/literal.h"

namespace slipway::cue {

LabelKind Labels::kind_of(std::string_view identifier) {
  if (identifier.starts_with("_#")) return LabelKind::HiddenDefinition;
  if (identifier.starts_with('#')) return LabelKind::Definition;
  if (identifier.starts_with('_')) return LabelKind::Hidden;
  return LabelKind::Regular;
}

Label Labels::find(const Key& wanted) const {
  for (const Labels* table = this; table != nullptr; table = table->below_) {
    if (auto known = table->words_.find(wanted); known != table->words_.end()) return {known->second};
  }
  return kNoLabel;
}

Label Labels::find(std::string_view text, LabelKind kind, std::string_view package) const {
  return find(Key{text, package, kind});
}

Label Labels::intern(std::string_view text, std::string_view package, LabelKind kind) {
  if (Label known = find(Key{text, package, kind}); !known.is_none()) return known;
  std::uint32_t word = end() << 3 | static_cast<std::uint32_t>(kind);
  const Entry kept{texts_.copy(text), texts_.copy(package)};
  words_.emplace(Key{kept.text, kept.package, kind}, word);
  entries_.push_back(kept);
  return {word};
}

Label Labels::identifier(std::string_view text, std::string_view package) {
  LabelKind kind = kind_of(text);
  bool is_hidden = kind == LabelKind::Hidden || kind == LabelKind::HiddenDefinition;
  return intern(text, is_hidden ? package : std::string_view(), kind);
}

Label Labels::unique_let(std::string_view text) {
  std::uint32_t word = end() << 3 | static_cast<std::uint32_t>(LabelKind::Let);
  entries_.push_back({texts_.copy(text), {}});
  return {word};
}

std::string_view Labels::text(Label label) const { return entry(label.index()).text; }
std::string_view Labels::package(Label label) const { return entry(label.index()).package; }

std::string Labels::describe(Label label) const {
  if (label.is_none()) return "";
  if (label.is_index()) return std::to_string(label.index());
  std::string_view name = text(label);
  if (label.kind() != LabelKind::Regular) return std::string(name);
  bool is_plain = is_identifier(name) && !name.starts_with('#') && !name.starts_with('_');
  return is_plain ? std::string(name) : quote(name);
}

}  // namespace slipway::cue
