// The documents of a YAML file as trees, two ways to write them, and edits that keep the bytes around them.
//
// *kpt*: `write_yaml` prints trees as kpt and kyaml print what a pipeline has gone over: two blanks a level, no blank lines but
// those between comments, items of lists below their key or two blanks in (as the first list of the document had it).
// *keep*: `KeptYaml` holds the text and changes only the bytes of the field that is edited; nothing else, not even a line end,
// differs afterwards. Each edit is checked by reading the new text again: it is what was asked for, or nothing is changed.
//
// Built on libyaml's events and marks. Debian's libfyaml 0.7.12 was tried first: in its original mode, with comments, it gives
// 165 of the 392 files of the package corpus back unchanged (blank lines, the blanks before comments, indentation of lists and
// CR are lost), so it can do neither.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "krm/yaml_node.h"

namespace slipway::krm {

struct YamlTree {
  Node root;
  std::string head;       // comments above the document, with a blank line before what follows
  std::string foot;       // below it, behind a blank line
  bool is_empty = false;  // nothing but comments
  bool is_wide = false;   // lists are written two blanks in
  std::size_t begin = 0;  // of its text, behind "---"
  std::size_t end = 0;
};

/// Every document. BadRequest "yaml: line 3: …" for what is no YAML, a key twice in a mapping, or more than 1000 levels.
Result<std::vector<YamlTree>> read_yaml(std::string_view text);
/// The only document of a text; an empty mapping for an empty text. BadRequest when there are several.
Result<YamlTree> read_one_yaml(std::string_view text);

/// kpt's form, ended by '\n'.
std::string write_yaml(const YamlTree& tree);
std::string write_yaml(std::span<const YamlTree> trees);
/// One node at the left margin without comments of the document.
std::string write_node(const Node& node, bool is_wide);
/// Whether kyaml calls the lists of a text wide: the first item that stands below a line "key:" is two blanks further in.
bool has_wide_lists(std::string_view text);

/// A mark on a document's metadata, as `kpt pkg get` writes them: a comment behind the key and an annotation.
struct MetadataMark {
  std::size_t document = 0;
  std::string comment{};     // with its '#'; empty: none
  std::string annotation{};  // empty: none
  std::string value{};
};

class KeptYaml {
 public:
  static Result<KeptYaml> parse(std::string text);

  /// The bytes as they were, but for the edits.
  const std::string& text() const { return text_; }
  const std::vector<YamlTree>& documents() const { return documents_; }

  /// Sets a field, making the mappings on the way. A part of the path that meets a list is an index, or "-" for a new last
  /// item. Invalid when the path meets a scalar or an alias; InternalError when the text cannot be edited so that only this
  /// changes.
  Result<void> set(std::size_t document, std::span<const std::string> path, const json::Value& value);
  /// Writes the marks into documents whose metadata is a mapping with members, all in one pass: a comment where there is none
  /// behind that key, an annotation in place of the one of its name. Errors as of set(); nothing is changed then.
  Result<void> mark(std::span<const MetadataMark> marks);
  /// Removes a field or an item with the comments above and behind it. NotFound when there is none.
  Result<void> remove(std::size_t document, std::span<const std::string> path);

 private:
  KeptYaml(std::string text, std::vector<YamlTree> documents) : text_(std::move(text)), documents_(std::move(documents)) {}
  Result<void> replace(std::size_t document, std::size_t begin, std::size_t end, std::string made, const json::Value& wanted);
  std::string with_line_ends(std::string made) const;  // those of the text
  Result<void> take(std::string edited, const std::vector<json::Value>& wanted, std::size_t document);

  std::string text_;
  std::vector<YamlTree> documents_;
};

}  // namespace slipway::krm
