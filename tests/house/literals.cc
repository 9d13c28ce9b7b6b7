#include "literals.h"

#include <fmt/format.h>

#include <algorithm>

namespace slipway::house {
namespace {

class Reader {
 public:
  explicit Reader(std::string_view source) : source_(source) {}

  std::vector<Literal> read() {
    while (at_ < source_.size()) {
      if (starts("//")) {
        skip_to("\n");
      } else if (starts("/*")) {
        skip_to("*/");
      } else if (starts("R\"") && !follows_a_word()) {
        raw();
      } else if (source_[at_] == '"') {
        quoted('"', true);
      } else if (source_[at_] == '\'' && !follows_a_word()) {  // 1'000 is a number
        quoted('\'', false);
      } else {
        step(1);
      }
    }
    return std::move(found_);
  }

 private:
  bool starts(std::string_view text) const { return source_.substr(at_).starts_with(text); }
  bool follows_a_word() const {
    return at_ > 0 && (std::isalnum(static_cast<unsigned char>(source_[at_ - 1])) != 0 || source_[at_ - 1] == '_');
  }
  void step(std::size_t count) {
    for (; count > 0 && at_ < source_.size(); --count) line_ += source_[at_++] == '\n' ? 1 : 0;
  }
  void skip_to(std::string_view end) {
    const std::size_t found = source_.find(end, at_);
    step(found == std::string_view::npos ? source_.size() - at_ : found + end.size() - at_);
  }
  void quoted(char quote, bool is_kept) {
    const std::size_t line = line_;
    std::size_t end = at_ + 1;
    while (end < source_.size() && source_[end] != quote) end += source_[end] == '\\' ? 2 : 1;
    end = std::min(end, source_.size());
    if (is_kept) found_.push_back({std::string(source_.substr(at_ + 1, end - at_ - 1)), line});
    step(end + 1 - at_);
  }
  /// R"x(text)x"
  void raw() {
    const std::size_t line = line_;
    const std::size_t open = std::min(source_.find('(', at_), source_.size() - 1);
    const std::string close = ")" + std::string(source_.substr(at_ + 2, open - at_ - 2)) + "\"";
    const std::size_t end = std::min(source_.find(close, open), source_.size());
    found_.push_back({std::string(source_.substr(open + 1, end - open - 1)), line});
    step(end + close.size() - at_);
  }

  std::string_view source_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::vector<Literal> found_{};
};

/// Words that are fields of built-in kinds, or of another family's, as well as plurals of a family's.
bool is_field(std::string_view path, std::string_view text) {
  const bool knows_autoscalers = path.starts_with("src/server/builtin/") || path.starts_with("src/cluster/hpa");
  if (knows_autoscalers && text == "policies") return true;  // HorizontalPodAutoscaler behavior.scaleUp.policies
  // Porch's plural, and the column of its tables.
  if (path.starts_with("src/delivery/package/") && (text == "packages" || text == "Package")) return true;
  const bool has_gates = path.starts_with("src/delivery/gate/") || path.starts_with("src/delivery/rollout/");
  return has_gates && text == "approvals";  // of a rollout's status, and of its log
}

/// Groups of KubeVela's parts that no family defines, though their names end in a family's group.
constexpr std::string_view kOtherGroups[] = {"cluster.core.oam.dev"};

bool contains_group(std::string text, const std::string& group) {
  for (const std::string_view other : kOtherGroups) {
    for (auto at = text.find(other); at != std::string::npos; at = text.find(other)) text.erase(at, other.size());
  }
  return text.contains(group);
}

}  // namespace

std::vector<Literal> string_literals(std::string_view source) { return Reader(source).read(); }

OwnNames own_names(const delivery::Family& family) {
  OwnNames names{.room = fmt::format("src/delivery/{}/", family.name), .words = {}, .groups = family.groups};
  const delivery::Family* const one[] = {&family};
  for (const kube::ResourceType& type : plane::own_types(one)) {
    names.words.push_back(type.kind.kind);
    names.words.push_back(type.resource.plural);
    const bool is_new = std::ranges::find(names.groups, type.resource.group) == names.groups.end();
    if (is_new) names.groups.push_back(type.resource.group);
  }
  return names;
}

std::vector<std::string> foreign_names(std::string_view path, std::string_view source, const std::vector<OwnNames>& families) {
  std::vector<std::string> found;
  for (const Literal& literal : string_literals(source)) {
    // A name that several families have may be said in the room of each.
    std::vector<const OwnNames*> owners;
    for (const OwnNames& names : families) {
      const bool is_own =
          std::ranges::find(names.words, literal.text) != names.words.end() ||
          std::ranges::any_of(names.groups, [&](const std::string& group) { return contains_group(literal.text, group); });
      if (is_own) owners.push_back(&names);
    }
    const bool is_at_home = std::ranges::any_of(owners, [&](const OwnNames* names) { return path.starts_with(names->room); });
    if (owners.empty() || is_at_home || is_field(path, literal.text)) continue;
    found.push_back(fmt::format("{}: \"{}\" belongs to {}", literal.line, literal.text, owners.front()->room));
  }
  return found;
}

}  // namespace slipway::house
