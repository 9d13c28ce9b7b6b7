#include "delivery/package/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "json/text.h"
#include "kube/names.h"

namespace slipway::delivery::package {
namespace {

constexpr std::string_view kHeads = "refs/heads/";
constexpr std::string_view kTags = "refs/tags/";
constexpr std::string_view kDrafts = "drafts/";
constexpr std::string_view kProposedPrefix = "proposed/";
constexpr std::string_view kDeletionProposed = "deletionProposed/";
constexpr std::string_view kNote = "kpt:";

bool is_label(std::string_view text) { return kube::dns1123_label_faults(text).empty(); }

bool is_path(std::string_view path) { return std::ranges::all_of(split(path, '/'), is_label); }

std::string dotted(std::string_view path) {
  std::string out(path);
  std::ranges::replace(out, '/', '.');
  return out;
}

/// A whole number without sign, as refs and workspaces have them: no leading zero.
std::optional<std::int64_t> whole(std::string_view text) {
  std::int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_all = !text.empty() && read.ec == std::errc{} && read.ptr == text.data() + text.size();
  const bool is_plain = is_all && is_digit(text.front()) && (text.size() == 1 || text.front() != '0');
  return is_plain ? std::optional(number) : std::nullopt;
}

std::string in_folder(std::string_view folder, std::string_view path) {
  const std::string plain = plain_path(folder);
  return plain.empty() ? std::string(path) : fmt::format("{}/{}", plain, path);
}

/// What follows `prefix`, or nullopt.
std::optional<std::string_view> after(std::string_view text, std::string_view prefix) {
  return text.starts_with(prefix) ? std::optional(text.substr(prefix.size())) : std::nullopt;
}

/// "infra/a/b/LAST" in folder "infra" as "a/b" and "LAST".
std::optional<std::pair<std::string, std::string>> path_and_last(std::string_view text, std::string_view folder) {
  const std::string inside = plain_path(folder);
  if (!inside.empty()) {
    const auto below = after(text, inside + "/");
    if (!below) return std::nullopt;
    text = *below;
  }
  const std::size_t slash = text.rfind('/');
  if (slash == std::string_view::npos || !is_path(text.substr(0, slash))) return std::nullopt;
  return std::pair(std::string(text.substr(0, slash)), std::string(text.substr(slash + 1)));
}

std::optional<std::int64_t> version(std::string_view text) {
  const auto digits = after(text, "v");
  const auto number = digits ? whole(*digits) : std::nullopt;
  return number && *number > 0 ? number : std::nullopt;
}

PackageRef other(std::string_view name) { return {.kind = RefKind::Other, .path = std::string(name)}; }

PackageRef with_workspace(RefKind kind, std::string_view name, std::string_view rest, std::string_view folder) {
  const auto parts = path_and_last(rest, folder);
  if (!parts || !is_label(parts->second)) return other(name);
  return {.kind = kind, .path = parts->first, .workspace = parts->second};
}

PackageRef with_branch(std::string_view name, std::string_view rest, std::string_view branch, std::string_view folder) {
  const auto parts = path_and_last(rest, folder);
  if (!parts || parts->second != branch) return other(name);
  return {.kind = RefKind::DeletionProposed, .path = parts->first, .workspace = parts->second, .revision = kPlaceholder};
}

PackageRef with_number(RefKind kind, std::string_view name, std::string_view rest, std::string_view folder) {
  const auto parts = path_and_last(rest, folder);
  const auto number = parts ? version(parts->second) : std::nullopt;
  if (!number) return other(name);
  return {.kind = kind, .path = parts->first, .revision = *number};
}

}  // namespace

std::string PackageKey::object_name() const { return fmt::format("{}.{}", repository, dotted(path)); }

std::string RevisionKey::object_name() const { return fmt::format("{}.{}", package.object_name(), workspace); }

std::optional<PackageKey> parse_package_name(std::string_view name) {
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  if (!std::ranges::all_of(split(name, '.'), is_label)) return std::nullopt;
  PackageKey key{.repository = std::string(name.substr(0, dot)), .path = std::string(name.substr(dot + 1))};
  std::ranges::replace(key.path, '.', '/');
  return key;
}

std::optional<RevisionKey> parse_revision_name(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || !is_label(name.substr(dot + 1))) return std::nullopt;
  const auto package = parse_package_name(name.substr(0, dot));
  if (!package) return std::nullopt;
  return RevisionKey{.package = *package, .workspace = std::string(name.substr(dot + 1))};
}

std::string plain_path(std::string_view path) { return std::string(trimmed(path, "/")); }

std::string package_name_fault(std::string_view path) {
  std::vector<std::string> faults;
  if (path.contains("//")) faults.emplace_back("consecutive '/' characters are not allowed");
  std::string joint(path);
  std::erase(joint, '/');
  for (std::string& fault : kube::dns1123_label_faults(joint)) faults.push_back(std::move(fault));
  if (faults.empty() && !is_path(plain_path(path))) {
    faults.emplace_back("each part between '/' must be a lowercase RFC 1123 label");
  }
  return joined(faults, ",");
}

std::vector<Cause> name_causes(const RevisionKey& key, std::string_view branch) {
  std::vector<Cause> causes;
  const auto quoted = [](std::string_view text) { return json::print(json::Value(text)); };
  if (const std::string fault = package_name_fault(key.package.path); !fault.empty()) {
    causes.push_back(field::invalid("spec.packageName", quoted(key.package.path), fault));
  }
  const kube::Faults faults = kube::dns1123_label_faults(key.workspace);
  if (!faults.empty()) {
    causes.push_back(field::invalid("spec.workspaceName", quoted(key.workspace), joined(faults, ",")));
  } else if (key.workspace == branch) {
    causes.push_back(field::invalid("spec.workspaceName", quoted(key.workspace),
                                    "is the repository's branch: the revision that follows it has that workspace"));
  }
  return causes;
}

bool paths_overlap(std::string_view one, std::string_view other) {
  const std::string_view longer = one.size() < other.size() ? other : one;
  const std::string_view shorter = one.size() < other.size() ? one : other;
  return longer.starts_with(shorter) && (longer.size() == shorter.size() || longer[shorter.size()] == '/');
}

Result<void> check_nesting(std::string_view path, std::span<const std::string> there) {
  for (const std::string& one : there) {
    if (!paths_overlap(path, one)) continue;
    return fail(Reason::BadRequest, fmt::format("package path {:?} conflicts with existing package {:?}: packages cannot be "
                                                "nested",
                                                path, one));
  }
  return {};
}

std::int64_t next_revision(std::span<const std::int64_t> published) {
  std::int64_t highest = 0;
  for (const std::int64_t one : published) highest = std::max(highest, one);
  return highest + 1;
}

std::string next_workspace(std::string_view prefix, std::span<const std::string> there) {
  std::int64_t highest = 0;
  for (const std::string& one : there) {
    const auto rest = after(one, prefix);
    highest = std::max(highest, rest ? whole(*rest).value_or(0) : 0);
  }
  return fmt::format("{}{}", prefix, highest + 1);
}

PackageRef read_ref(std::string_view name, std::string_view branch, std::string_view folder) {
  if (const auto tag = after(name, kTags)) return with_number(RefKind::Tag, name, *tag, folder);
  const auto head = after(name, kHeads);
  if (!head) return other(name);
  if (*head == branch) return {.kind = RefKind::Branch, .path = std::string(branch)};
  if (const auto rest = after(*head, kDrafts)) return with_workspace(RefKind::Draft, name, *rest, folder);
  if (const auto rest = after(*head, kProposedPrefix)) return with_workspace(RefKind::Proposed, name, *rest, folder);
  if (const auto rest = after(*head, kDeletionProposed)) {
    const PackageRef numbered = with_number(RefKind::DeletionProposed, name, *rest, folder);
    return numbered.kind == RefKind::Other ? with_branch(name, *rest, branch, folder) : numbered;
  }
  return other(name);
}

std::string ref_of(const RevisionKey& key, std::int64_t revision, Lifecycle lifecycle, std::string_view folder) {
  const std::string path = in_folder(folder, key.package.path);
  switch (lifecycle) {
    case Lifecycle::Draft:
      return fmt::format("{}{}{}/{}", kHeads, kDrafts, path, key.workspace);
    case Lifecycle::Proposed:
      return fmt::format("{}{}{}/{}", kHeads, kProposedPrefix, path, key.workspace);
    case Lifecycle::Published:
      return revision > 0 ? fmt::format("{}{}/v{}", kTags, path, revision) : "";
    case Lifecycle::DeletionProposed:
      if (revision == kPlaceholder && !version(key.workspace)) {
        return fmt::format("{}{}{}/{}", kHeads, kDeletionProposed, path, key.workspace);
      }
      return revision > 0 ? fmt::format("{}{}{}/v{}", kHeads, kDeletionProposed, path, revision) : "";
  }
  return "";
}

std::string with_note(std::string_view message, const CommitNote& note) {
  return fmt::format("{}\n\n{}{}\n", message, kNote, json::print(json::encode(note)));
}

std::vector<CommitNote> notes_of(std::string_view message) {
  std::vector<CommitNote> notes;
  for (const std::string_view line : split(message, '\n')) {
    const auto text = after(trimmed(line), kNote);
    auto value = text ? json::parse(*text) : Result<json::Value>(json::Value());
    if (!value || !value->is_object()) continue;
    const json::Value& revision = (*value)["revision"];  // a number in commits of newer Porch
    if (revision.is_int()) value = value->with("revision", revision.number_text());
    if (auto note = json::decode<CommitNote>(*value)) notes.push_back(std::move(*note));
  }
  return notes;
}

}  // namespace slipway::delivery::package
