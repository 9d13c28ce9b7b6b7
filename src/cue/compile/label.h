// Field names as 32-bit words. A table holds the texts; a program's table never changes after compiling, and an evaluation lays
// its own on top for names that come up while it runs. List positions are labels too and need no table.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cue/arena.h"

namespace slipway::cue {

enum class LabelKind : std::uint8_t { Regular, Hidden, Definition, HiddenDefinition, Let, Index };

struct Label {
  std::uint32_t word = 0xFFFFFFFF;

  LabelKind kind() const { return static_cast<LabelKind>(word & 7); }
  std::uint32_t index() const { return word >> 3; }
  bool is_index() const { return kind() == LabelKind::Index; }
  bool is_let() const { return kind() == LabelKind::Let; }
  bool is_definition() const { return kind() == LabelKind::Definition || kind() == LabelKind::HiddenDefinition; }
  bool is_hidden() const { return kind() == LabelKind::Hidden || kind() == LabelKind::HiddenDefinition; }
  bool is_regular() const { return kind() == LabelKind::Regular; }
  bool is_none() const { return word == 0xFFFFFFFF; }
  bool operator==(const Label&) const = default;

  static Label item(std::uint32_t position) { return {position << 3 | static_cast<std::uint32_t>(LabelKind::Index)}; }
};

inline constexpr Label kNoLabel{};

class Labels {
 public:
  explicit Labels(const Labels* below = nullptr) : below_(below), first_(below == nullptr ? 0 : below->end()) {}

  /// A field name as data gives it: always regular.
  Label regular(std::string_view text) { return intern(text, "", LabelKind::Regular); }
  /// An identifier: "#" and "_" decide the kind; hidden names belong to a package.
  Label identifier(std::string_view text, std::string_view package);
  /// A name no other declaration has.
  Label unique_let(std::string_view text);
  /// kNoLabel when it is not used yet.
  Label find(std::string_view text, LabelKind kind, std::string_view package = "") const;
  /// Without the package of a hidden name. REQUIRES: not an index.
  std::string_view text(Label label) const;
  /// As a path element: quoted where needed.
  std::string describe(Label label) const;
  /// The package of a hidden name.
  std::string_view package(Label label) const;

  static LabelKind kind_of(std::string_view identifier);

  /// What this table takes, without the one below; the tables of names estimated.
  std::uint64_t used_bytes() const { return texts_.used_bytes() + entries_.size() * kEntryBytes; }

 private:
  struct Entry {
    std::string_view text;
    std::string_view package;
  };
  static constexpr std::uint64_t kEntryBytes = 112;  // and one in `words_`
  Label intern(std::string_view text, std::string_view package, LabelKind kind);
  std::uint32_t end() const { return first_ + static_cast<std::uint32_t>(entries_.size()); }
  const Entry& entry(std::uint32_t index) const { return index < first_ ? below_->entry(index) : entries_[index - first_]; }

  /// What tells labels apart. The texts of one that is kept lie in `texts_`.
  struct Key {
    std::string_view text;
    std::string_view package;
    LabelKind kind;
    bool operator==(const Key&) const = default;
  };
  struct HashKey {
    std::size_t operator()(const Key& key) const {
      const std::size_t text = std::hash<std::string_view>()(key.text) + static_cast<std::size_t>(key.kind);
      return key.package.empty() ? text : text ^ (std::hash<std::string_view>()(key.package) << 1U);
    }
  };
  Label find(const Key& wanted) const;

  const Labels* below_;
  std::uint32_t first_;
  std::vector<Entry> entries_;
  boost::unordered_flat_map<Key, std::uint32_t, HashKey> words_;
  Arena texts_;
};

}  // namespace slipway::cue
