#include "krm/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <utility>

namespace slipway::krm {
namespace {

struct Row {
  std::string_view name;
  Strategy strategy;
};
constexpr std::array kStrategies{Row{"resource-merge", Strategy::ResourceMerge}, Row{"fast-forward", Strategy::FastForward},
                                 Row{"force-delete-replace", Strategy::ForceDeleteReplace},
                                 Row{"copy-merge", Strategy::CopyMerge}};

bool is_kptfile_path(std::string_view path) { return path == kKptfile || path.ends_with("/Kptfile"); }

bool is_in(std::string_view path, std::string_view folder) {
  return path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
}

const std::string* text_of(const Files& files, const std::string& path) {
  const auto found = files.find(path);
  return found == files.end() ? nullptr : &found->second;
}

bool is_same_file(const Files& a, const Files& b, const std::string& path) {
  const std::string* first = text_of(a, path);
  const std::string* second = text_of(b, path);
  return first != nullptr && second != nullptr ? *first == *second : first == second;
}

Files files_below(const Files& files, std::string_view folder) {
  Files made;
  for (const auto& [path, text] : files) {
    if (is_in(path, folder)) made[path] = text;
  }
  return made;
}

// "group|kind|namespace/name|file"
std::string identity(const Resource& resource) {
  std::string name = fmt::format("{}/{}", resource.namespace_name(), resource.name());
  constexpr std::string_view kComment = "# kpt-merge: ";
  const Node* metadata = resource.root().key_node("metadata");
  if (metadata != nullptr && metadata->line.starts_with(kComment)) name = metadata->line.substr(kComment.size());
  return fmt::format("{}|{}|{}|{}", resource.group(), resource.kind(), name, resource.path);
}

class Merge {
 public:
  Merge(const Files& origin, const Files& upstream, const Files& local) : origin_(origin), upstream_(upstream), local_(local) {}

  Result<Upgrade> run() {
    SLIPWAY_TRY_VOID(settle_subpackages());
    merge_plain_files();
    SLIPWAY_TRY_VOID(merge_resources());
    SLIPWAY_TRY_VOID(merge_package_files());
    return std::move(made_);
  }

 private:
  void report(std::string file, const Resource* resource, std::string taken) {
    Conflict made;
    made.file = std::move(file);
    if (resource != nullptr) {
      made.kind = resource->kind();
      made.name = resource->name();
    }
    made.taken = std::move(taken);
    made_.conflicts.push_back(std::move(made));
  }

  // Subpackages that one side deleted, or that only one side has, are no matter of single files.
  Result<void> settle_subpackages() {
    const auto of = [](const Files& files) {
      const auto all = package_folders(files);
      return std::set<std::string>(all.begin() + 1, all.end());
    };
    const auto before = of(origin_);
    const auto theirs = of(upstream_);
    const auto ours = of(local_);
    for (const std::string& folder : theirs) {
      if (!before.contains(folder) && ours.contains(folder)) {
        if (files_below(upstream_, folder) == files_below(local_, folder)) continue;
        return fail(Reason::Invalid,
                    fmt::format("subpackage {:?} added in both upstream and local: rename or remove the local one", folder));
      }
      if (before.contains(folder) && !ours.contains(folder)) {
        if (files_below(upstream_, folder) != files_below(origin_, folder)) report(folder, nullptr, "local");
        drop(folder);
      }
    }
    for (const std::string& folder : before) {
      if (theirs.contains(folder) || !ours.contains(folder)) continue;
      if (files_below(local_, folder) == files_below(origin_, folder)) {
        drop(folder);
        std::erase_if(local_, [&](const auto& file) { return is_in(file.first, folder); });
      } else {
        report(folder, nullptr, "local");
        std::erase_if(origin_, [&](const auto& file) { return is_in(file.first, folder); });
      }
    }
    return {};
  }

  void drop(const std::string& folder) {
    std::erase_if(origin_, [&](const auto& file) { return is_in(file.first, folder); });
    std::erase_if(upstream_, [&](const auto& file) { return is_in(file.first, folder); });
  }

  void merge_plain_files() {
    std::set<std::string> paths;
    for (const Files* files : {&origin_, &upstream_, &local_}) {
      for (const auto& [path, text] : *files) {
        if (!is_krm_file(path)) paths.insert(path);
      }
    }
    for (const std::string& path : paths) {
      const bool is_untouched = is_same_file(local_, origin_, path);
      const std::string* text = text_of(is_untouched ? upstream_ : local_, path);
      if (!is_untouched && !is_same_file(upstream_, origin_, path) && !is_same_file(upstream_, local_, path))
        report(path, nullptr, "local");
      if (text != nullptr) made_.files[path] = *text;
    }
  }

  Result<std::map<std::string, Resource>> read(const Files& files, std::vector<std::string>* order) const {
    SLIPWAY_TRY(resources, read_resources(files));
    std::map<std::string, Resource> made;
    for (Resource& resource : resources) {
      if (is_kptfile_path(resource.path)) continue;
      std::string id = identity(resource);
      if (order != nullptr && !made.contains(id)) order->push_back(id);
      made.emplace(std::move(id), std::move(resource));
    }
    return made;
  }

  Result<void> merge_resources() {
    std::vector<std::string> order;
    std::vector<std::string> theirs;
    SLIPWAY_TRY(local, read(local_, &order));
    SLIPWAY_TRY(upstream, read(upstream_, &theirs));
    SLIPWAY_TRY(origin, read(origin_, nullptr));
    for (const std::string& id : theirs) {
      if (!local.contains(id)) order.push_back(id);
    }
    std::vector<json::Value> crds;
    for (const auto* all : {&upstream, &local}) {
      for (const auto& [id, resource] : *all) {
        if (resource.kind() == "CustomResourceDefinition") crds.push_back(value_or_null(resource.root()));
      }
    }
    const auto find = [](std::map<std::string, Resource>& all, const std::string& id) {
      const auto found = all.find(id);
      return found == all.end() ? nullptr : &found->second;
    };
    std::vector<Resource> kept;
    for (const std::string& id : order) {
      auto merged = merge(find(origin, id), find(upstream, id), find(local, id), crds);
      if (merged) kept.push_back(std::move(*merged));
    }
    return write(std::move(kept));
  }

  // What cloning marked is no change.
  static void share_identity(const Resource* local, Resource* other) {
    constexpr std::string_view kIdentifier = "internal.kpt.dev/upstream-identifier";
    if (local == nullptr || other == nullptr || local->annotation(kIdentifier).empty()) return;
    Node made = Node::string(local->annotation(kIdentifier));
    other->root().mapping_at({"metadata", "annotations"}).set(kIdentifier, std::move(made));
  }

  std::optional<Resource> merge(Resource* origin, Resource* upstream, Resource* local, std::span<const json::Value> crds) {
    share_identity(local, origin);
    share_identity(local, upstream);
    const auto is_changed = [&](const Resource* side) { return !side->root().has_value_of(origin->root()); };
    if (local == nullptr && upstream == nullptr) return std::nullopt;
    if (local == nullptr) {
      if (origin == nullptr) return std::move(*upstream);
      if (is_changed(upstream)) report(upstream->path, upstream, "local");
      return std::nullopt;
    }
    if (upstream == nullptr) {
      if (origin == nullptr) return std::move(*local);
      if (!is_changed(local)) return std::nullopt;
      report(local->path, local, "local");
      return std::move(*local);
    }
    const ListKeys keys = list_keys_of(local->api_version(), local->kind(), crds);
    Merged merged =
        merge_fields(origin == nullptr ? nullptr : &origin->root(), &upstream->root(), &local->root(), keys, Inference::Off);
    for (Conflict& conflict : merged.conflicts) {
      conflict.file = local->path;
      conflict.kind = local->kind();
      conflict.name = local->name();
      made_.conflicts.push_back(std::move(conflict));
    }
    Resource made = std::move(*local);
    if (merged.node) made.tree.root = std::move(*merged.node);
    return made;
  }

  // Local resources keep their places; those of upstream come behind them.
  Result<void> write(std::vector<Resource> resources) {
    std::map<std::string, std::size_t> next;
    for (Resource& resource : resources) resource.index = next[resource.path]++;
    Files plain = std::exchange(made_.files, {});
    SLIPWAY_TRY(written, write_resources({}, std::move(resources)));
    made_.files = std::move(written);
    made_.files.merge(plain);
    for (const auto& [path, text] : local_) {
      if (is_krm_file(path) && is_ignored(local_, path)) made_.files[path] = text;
    }
    return {};
  }

  Result<void> merge_package_files() {
    std::set<std::string> paths;
    for (const Files* files : {&upstream_, &local_}) {
      for (const auto& [path, text] : *files) {
        if (is_kptfile_path(path)) paths.insert(path);
      }
    }
    for (const std::string& path : paths) {
      const std::string* local = text_of(local_, path);
      const std::string* upstream = text_of(upstream_, path);
      const std::string* origin = text_of(origin_, path);
      if (local == nullptr || upstream == nullptr) {
        made_.files[path] = local != nullptr ? *local : *upstream;
        continue;
      }
      std::vector<Conflict> conflicts;
      auto merged = merge_kptfiles(origin == nullptr ? "" : *origin, *upstream, *local,
                                   path == kKptfile ? Locks::Local : Locks::Upstream, &conflicts);
      if (!merged) return fail(merged.error().reason, fmt::format("{}: {}", path, merged.error().message));
      for (Conflict& conflict : conflicts) {
        conflict.file = path;
        conflict.kind = kKptfile;
        made_.conflicts.push_back(std::move(conflict));
      }
      made_.files[path] = std::move(*merged);
    }
    return {};
  }

  Files origin_;
  Files upstream_;
  Files local_;
  Upgrade made_;
};

// The Kptfile of the result: names and locks stay local.
Result<void> keep_package(Files& files, const Files& origin, const Files& upstream, const Files& local,
                          std::vector<Conflict>& conflicts) {
  const std::string path(kKptfile);
  const std::string* ours = text_of(local, path);
  const std::string* theirs = text_of(upstream, path);
  if (ours == nullptr || theirs == nullptr) return {};
  const std::string* before = text_of(origin, path);
  SLIPWAY_TRY(merged, merge_kptfiles(before == nullptr ? "" : *before, *theirs, *ours, Locks::Local, &conflicts));
  files[path] = std::move(merged);
  return {};
}

// Packages differ by what fetching writes into them: identities, and parts of the Kptfile.
Result<bool> is_unchanged(const Files& origin, const Files& local) {
  SLIPWAY_TRY(before, with_merge_identity(origin));
  SLIPWAY_TRY(now, with_merge_identity(local));
  for (Files* files : {&before, &now}) {
    const auto found = files->find(std::string(kKptfile));
    if (found == files->end()) continue;
    SLIPWAY_TRY(tree, read_one_yaml(found->second));
    for (std::string_view field : {"upstream", "upstreamLock", "status"}) tree.root.erase(field);
    if (Node* metadata = tree.root.find("metadata")) metadata->erase("name");
    found->second = write_yaml(tree);
  }
  return before == now;
}

}  // namespace

Result<Strategy> strategy_of(std::string_view name) {
  if (name.empty()) return Strategy::ResourceMerge;
  const auto found = std::ranges::find(kStrategies, name, &Row::name);
  if (found != kStrategies.end()) return found->strategy;
  return fail(
      Reason::Invalid,
      fmt::format("unknown update strategy {:?}: use resource-merge, fast-forward, force-delete-replace or copy-merge", name));
}

Result<Upgrade> upgrade(const Files& origin, const Files& upstream, const Files& local, Strategy strategy, Identity identity) {
  if (identity == Identity::Written) {
    SLIPWAY_TRY(old_marked, with_merge_identity(origin));
    SLIPWAY_TRY(new_marked, with_merge_identity(upstream));
    SLIPWAY_TRY(mine_marked, with_merge_identity(local));
    return upgrade(old_marked, new_marked, mine_marked, strategy);
  }
  if (strategy == Strategy::ResourceMerge) return Merge(origin, upstream, local).run();
  if (strategy == Strategy::FastForward) {
    SLIPWAY_TRY(is_same, is_unchanged(origin, local));
    if (!is_same) return fail(Reason::Conflict, "local package files have been modified: use a different update strategy.");
  }
  Upgrade made;
  if (strategy == Strategy::CopyMerge) made.files = local;
  for (const auto& [path, text] : upstream) made.files[path] = text;
  if (strategy == Strategy::CopyMerge) {
    SLIPWAY_TRY_VOID(keep_package(made.files, origin, upstream, local, made.conflicts));
  } else if (const std::string* kptfile = text_of(local, std::string(kKptfile))) {
    made.files[std::string(kKptfile)] = *kptfile;
  }
  return made;
}

std::string describe(const Conflict& conflict) {
  std::string made = conflict.file;
  if (!conflict.kind.empty()) made += fmt::format(" {}", conflict.kind);
  if (!conflict.name.empty()) made += fmt::format(" {}", conflict.name);
  if (conflict.path.empty()) return fmt::format("{}: changed by both sides; {} kept", made, conflict.taken);
  const auto text = [](const std::string& value) { return value.empty() ? std::string("(none)") : value; };
  return fmt::format("{} {}: {} → upstream {}, local {}; {} taken", made, conflict.path, text(conflict.origin),
                     text(conflict.upstream), text(conflict.local), conflict.taken);
}

}  // namespace slipway::krm
