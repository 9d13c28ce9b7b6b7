#include "delivery/package/content.h"

#include <fmt/format.h>

#include "base/digest.h"
#include "base/lookup.h"
#include "json/text.h"
#include "json/utf8.h"
#include "krm/kptfile.h"
#include "krm/yaml_tree.h"

namespace slipway::delivery::package {
namespace {

using json::Value;

constexpr std::uint64_t kMostFileBytes = std::uint64_t{8} << 20;
constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20;

std::string below(const std::string& folder, const std::string& path) { return folder.empty() ? path : folder + "/" + path; }

Value gates_value(const Gates& gates) {
  json::ArrayBuilder list;
  for (const ReadinessGate& one : gates) list.add(json::object({{"conditionType", one.type}}));
  return list.build();
}

Value conditions_value(const Conditions& conditions) {
  json::ArrayBuilder list;
  for (const Condition& one : conditions) {
    json::ObjectBuilder made;
    made.add("type", one.type).add("status", json::enum_name(one.status));
    if (!one.reason.empty()) made.add("reason", one.reason);
    if (!one.message.empty()) made.add("message", one.message);
    list.add(made.build());
  }
  return list.build();
}

/// A list of objects that a field of theirs names, below a parent: info.readinessGates by conditionType.
struct NamedList {
  const char* parent;
  const char* name;
  const char* key;

  std::vector<std::string> path() const { return {parent, name}; }
  std::vector<std::string> path(std::size_t index) const { return {parent, name, std::to_string(index)}; }
  std::optional<std::size_t> find(const Value& list, const Value& named) const {
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (list.item(i)[key] == named[key]) return i;
    }
    return std::nullopt;
  }
  /// Whether each is named once, the items that both have come in the same order, and those of `to` alone after them.
  bool is_extended(const Value& from, const Value& to) const {
    for (std::size_t i = 0; i < from.size(); ++i) {
      if (find(from, from.item(i)) != i) return false;
    }
    std::optional<std::size_t> last;
    bool has_new = false;
    for (const Value& item : to.items()) {
      const auto was = find(from, item);
      if (was && (has_new || (last && *was < *last))) return false;
      has_new = has_new || !was;
      last = was ? was : last;
    }
    return true;
  }
};

void set_item(krm::KeptYaml& kptfile, std::vector<std::string> path, const Value& old, const Value& item) {
  for (const auto& [field, value] : item.members()) {
    if (old[field] == value) continue;
    path.emplace_back(field);
    (void)kptfile.set(0, path, value);
    path.pop_back();
  }
  for (const auto& [field, value] : old.members()) {
    if (item.has(field)) continue;
    path.emplace_back(field);
    (void)kptfile.remove(0, path);
    path.pop_back();
  }
}

/// Sets such a list by its items, so that what is written beside the others stays; an empty one is taken away, with a parent
/// that holds nothing else.
void set_list(krm::KeptYaml& kptfile, const Value& now, const NamedList& named, const Value& list) {
  const Value& old = now[named.parent][named.name];
  if (old == list || (old.empty() && list.empty())) return;
  if (list.empty()) {
    const std::vector<std::string> whole{named.parent};
    (void)kptfile.remove(0, now[named.parent].size() == 1 ? whole : named.path());
    return;
  }
  if (!old.is_array() || old.empty() || !named.is_extended(old, list)) {
    (void)kptfile.set(0, named.path(), list);
    return;
  }
  for (const Value& item : list.items()) {
    const auto was = named.find(old, item);
    if (was) {
      set_item(kptfile, named.path(*was), old.item(*was), item);
    } else {
      (void)kptfile.set(0, std::vector<std::string>{named.parent, named.name, "-"}, item);
    }
  }
  for (std::size_t i = old.size(); i-- > 0;) {
    if (!named.find(list, old.item(i))) (void)kptfile.remove(0, named.path(i));
  }
}

/// Git gives files by their path from the root.
std::string inside(const std::string& folder, const std::string& path) {
  return folder.empty() ? path : path.substr(folder.size() + 1);
}

}  // namespace

bool is_text(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t length = json::utf8_character(bytes);
    if (length == 0) return false;
    bytes.remove_prefix(length);
  }
  return true;
}

std::map<std::string, std::string> Content::texts() const {
  std::map<std::string, std::string> shown;
  for (const auto& [path, bytes] : files) {
    const auto mode = modes.find(path);
    const bool is_link = mode != modes.end() && mode->second == GitMode::Symlink;
    if (!is_link && is_text(bytes)) shown.emplace(path, bytes);
  }
  return shown;
}

std::vector<std::string> Content::hidden() const {
  const auto shown = texts();
  std::vector<std::string> paths;
  for (const auto& [path, bytes] : files) {
    if (!shown.contains(path)) paths.push_back(path);
  }
  return paths;
}

Content Content::with_texts(const std::map<std::string, std::string>& texts) const {
  Content made;
  for (const std::string& path : hidden()) {
    if (!texts.contains(path)) made.files[path] = value_at(files, path);
  }
  for (const auto& [path, text] : texts) made.files[path] = text;
  for (const auto& [path, mode] : modes) {
    const bool is_replaced_link = mode == GitMode::Symlink && texts.contains(path);
    if (made.files.contains(path) && !is_replaced_link) made.modes[path] = mode;
  }
  return made;
}

Task<Result<Content>> read_content(Git& git, GitRemote remote, std::string folder, GitId commit) {
  GitTreeQuery query{.path = folder, .large = GitTreeQuery::Large::refuse};
  query.max_file_bytes = kMostFileBytes;
  query.max_total_bytes = kMostBytes;
  auto read = co_await git.read_tree(std::move(remote), std::move(commit), std::move(query));
  if (!read) co_return fail(std::move(read).error());
  Content content;
  for (GitFile& file : *read) {
    if (!file.content) continue;  // a submodule
    const std::string path = inside(folder, file.path);
    if (file.mode != GitMode::Regular) content.modes[path] = file.mode;
    content.files[path] = std::move(*file.content);
  }
  co_return content;
}

Task<Result<Content>> fetch_content(Git& git, GitRemote remote, std::string folder, GitId commit, std::string ref) {
  auto content = co_await read_content(git, remote, folder, commit);
  if (content || content.error().reason != Reason::NotFound || ref.empty()) co_return content;
  SLIPWAY_CO_TRY_VOID(co_await git.fetch(remote, std::move(ref)));
  co_return co_await read_content(git, std::move(remote), std::move(folder), std::move(commit));
}

std::vector<GitChange> content_changes(const std::string& folder, const Content& from, const Content& to) {
  const auto mode_in = [](const Content& content, const std::string& path) {
    const auto found = content.modes.find(path);
    return found == content.modes.end() ? GitMode::Regular : found->second;
  };
  std::vector<GitChange> changes;
  for (const auto& [path, bytes] : from.files) {
    if (!to.files.contains(path)) changes.push_back({.path = below(folder, path), .content = std::nullopt});
  }
  for (const auto& [path, bytes] : to.files) {
    const auto was = from.files.find(path);
    const GitMode mode = mode_in(to, path);
    if (was != from.files.end() && was->second == bytes && mode_in(from, path) == mode) continue;
    changes.push_back({.path = below(folder, path), .content = bytes, .mode = mode});
  }
  return changes;
}

std::vector<GitChange> replacing_changes(const std::string& folder, const Content& to) {
  std::vector<GitChange> changes = content_changes(folder, {}, to);
  if (!folder.empty()) changes.insert(changes.begin(), GitChange{.path = folder, .content = std::nullopt});
  return changes;
}

std::string with_verdicts(std::string kptfile, const Gates& gates, const Conditions& conditions) {
  auto tree = krm::read_one_yaml(kptfile);
  if (!tree || !tree->root.is_mapping() || !krm::read_kptfile(kptfile)) return kptfile;
  const Value now = krm::value_or_null(tree->root);
  auto kept = krm::KeptYaml::parse(kptfile);
  if (!kept || !now.is_object()) return kptfile;
  set_list(*kept, now, {"info", "readinessGates", "conditionType"}, gates_value(gates));
  set_list(*kept, now, {"status", "conditions", "type"}, conditions_value(conditions));
  return kept->text();
}

Result<Verdicts> verdicts_of(const std::map<std::string, std::string>& files) {
  Verdicts said;
  const auto found = files.find(std::string(krm::kKptfile));
  if (found == files.end()) return said;
  SLIPWAY_TRY(kptfile, krm::read_kptfile(found->second));
  SLIPWAY_TRY(tree, krm::read_one_yaml(found->second));
  if (tree.root.at({"info", "readinessGates"}) != nullptr) {
    said.gates.emplace();
    for (const krm::KptGate& gate : kptfile.info->readiness_gates) said.gates->push_back(gate.condition_type);
  }
  if (tree.root.at({"status", "conditions"}) != nullptr) {
    said.conditions.emplace();
    for (const krm::KptCondition& one : kptfile.status->conditions) {
      const Truth truth = one.status == "True" ? Truth::True : one.status == "False" ? Truth::False : Truth::Unknown;
      said.conditions->push_back({.type = one.type, .status = truth, .reason = one.reason, .message = one.message});
    }
  }
  return said;
}

std::string conditions_digest(const Conditions& conditions) { return sha256_hex(json::print(conditions_value(conditions))); }

}  // namespace slipway::delivery::package
