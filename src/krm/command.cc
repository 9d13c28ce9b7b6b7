#include "krm/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "krm/diff.h"
#include "krm/function.h"
#include "krm/kptfile.h"

namespace slipway::krm {
namespace {

CommandOutcome failed(const Status& status) {
  return {.code = 1, .output = "", .errors = "error: " + status.message + "\n", .files = {}};
}

Result<std::string> kptfile_of(const Files& files) {
  const auto found = files.find(std::string(kKptfile));
  if (found == files.end())
    return fail(Reason::NotFound, "there is no Kptfile in this folder: make one with `slipway pkg init`");
  return found->second;
}

CommandOutcome edited(const Files& files, Result<std::string> text) {
  if (!text) return failed(text.error());
  CommandOutcome made;
  made.files = files;
  (*made.files)[std::string(kKptfile)] = std::move(*text);
  return made;
}

// Resources by the folder of their file. Only folders with resources are shown, each below the nearest one around it.
using Shelves = std::map<std::string, std::vector<const Resource*>>;

std::string folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? "" : path.substr(0, slash));
}

std::vector<std::string> shelves_below(const Shelves& shelves, const std::string& folder) {
  std::vector<std::string> made;
  for (const auto& [path, resources] : shelves) {
    if (path.empty()) continue;
    std::string around = folder_of(path);
    while (!around.empty() && !shelves.contains(around)) around = folder_of(around);
    if (around == folder) made.push_back(path);
  }
  return made;
}

std::string line_of(const Resource& resource) {
  const std::string file = resource.path.substr(folder_of(resource.path).empty() ? 0 : folder_of(resource.path).size() + 1);
  const std::string ns = resource.namespace_name().empty() ? "" : fmt::format("{}/", resource.namespace_name());
  return fmt::format("[{}]  {} {}{}", file, resource.kind(), ns, resource.name());
}

void draw(const Shelves& shelves, const Files& files, const std::string& folder, const std::string& indent, std::string& text) {
  std::vector<const Resource*> resources = shelves.at(folder);
  const auto key = [](const Resource* one) {
    return std::tuple(one->path, one->namespace_name(), one->name(), one->kind(), one->api_version());
  };
  std::ranges::sort(resources, {}, key);
  const std::vector<std::string> below = shelves_below(shelves, folder);
  for (std::size_t i = 0; i < resources.size(); ++i) {
    const bool is_last = i + 1 == resources.size() && below.empty();
    text += fmt::format("{}{}{}\n", indent, is_last ? "└── " : "├── ", line_of(*resources[i]));
  }
  for (const std::string& path : below) {
    const bool is_last = &path == &below.back();
    const std::string shown = path.substr(folder_of(path).empty() ? 0 : folder_of(path).size() + 1);
    const bool is_package = files.contains(path + "/" + std::string(kKptfile));
    text += fmt::format("{}{}{}\n", indent, is_last ? "└── " : "├── ", is_package ? fmt::format("Package {:?}", shown) : shown);
    draw(shelves, files, path, indent + (is_last ? "    " : "│   "), text);
  }
}

}  // namespace

CommandOutcome fn_command(std::string_view name, std::string_view input) {
  auto run = find_function(name);
  if (!run) return failed(run.error());
  auto list = read_resource_list(input);
  if (!list) return failed(list.error());
  list->results.clear();
  auto done = (*run)(*list);
  CommandOutcome made;
  made.output = write_resource_list(*list);
  if (!done) made.errors = done.error().message + "\n";
  made.code = !done || has_errors(list->results) ? 1 : 0;
  return made;
}

CommandOutcome list_functions() {
  CommandOutcome made;
  for (const FunctionRow& row : functions()) made.output += fmt::format("{:<30} {}\n", row.name, row.doc);
  return made;
}

CommandOutcome init_command(const Files& files, std::string_view name, std::string_view description) {
  if (files.contains(std::string(kKptfile))) {
    return {.code = 1, .output = "", .errors = "error: this folder is a package already: it has a Kptfile\n", .files = {}};
  }
  Node root = Node::mapping();
  root.set("apiVersion", Node::string("kpt.dev/v1"));
  root.set("kind", Node::string(kKptfile));
  Node& metadata = root.mapping_at("metadata");
  metadata.set("name", Node::string(name));
  metadata.mapping_at("annotations").set(kLocalConfig, Node::string("true"));
  root.mapping_at("info").set("description", Node::string(description));
  CommandOutcome made;
  made.files = files;
  (*made.files)[std::string(kKptfile)] = write_node(root, false);
  made.files->try_emplace("package-context.yaml", package_context("example"));  // a clone for a deployment gets its own name
  made.files->try_emplace("README.md", fmt::format("# {}\n\n{}\n", name, description));
  made.output = fmt::format("made package {}\n", name);
  return made;
}

Result<std::string> with_origin(std::string_view kptfile, std::string_view name, const GitOrigin& origin,
                                std::string_view strategy) {
  const std::string text = kptfile.empty() ? fmt::format("apiVersion: kpt.dev/v1\nkind: {}\n", kKptfile) : std::string(kptfile);
  SLIPWAY_TRY(kept, KeptYaml::parse(text));
  const json::Value git = json::object({{"repo", origin.repo}, {"directory", "/" + origin.directory}, {"ref", origin.ref}});
  const json::Value upstream =
      json::object({{"type", json::Value("git")}, {"git", git}, {"updateStrategy", json::Value(strategy)}});
  const json::Value lock = json::object({{"type", json::Value("git")}, {"git", git.with("commit", origin.commit)}});
  SLIPWAY_TRY_VOID(kept.set(0, std::vector<std::string>{"metadata", "name"}, json::Value(name)));
  SLIPWAY_TRY_VOID(kept.set(0, std::vector<std::string>{"upstream"}, upstream));
  SLIPWAY_TRY_VOID(kept.set(0, std::vector<std::string>{"upstreamLock"}, lock));
  return kept.text();
}

CommandOutcome get_command(Files files, std::string_view name, const GitOrigin& origin, std::string_view strategy) {
  auto known = strategy_of(strategy);
  if (!known) return failed(known.error());
  const auto there = files.find(std::string(kKptfile));
  auto kptfile =
      with_origin(there == files.end() ? "" : there->second, name, origin, strategy.empty() ? "resource-merge" : strategy);
  if (!kptfile) return failed(kptfile.error());
  files[std::string(kKptfile)] = std::move(*kptfile);
  CommandOutcome made;
  made.files = with_merge_marks(std::move(files));
  made.output = fmt::format("fetched package {} from {} at {}\n", name, origin.repo, origin.commit);
  return made;
}

CommandOutcome ready_command(const Files& files) {
  CommandOutcome made;
  std::size_t packages = 0;
  for (const std::string& folder : package_folders(files)) {
    const std::string path = folder.empty() ? std::string(kKptfile) : folder + "/" + std::string(kKptfile);
    const auto found = files.find(path);
    if (found == files.end()) return failed(kptfile_of(files).error());
    auto kptfile = read_kptfile(found->second, path);
    if (!kptfile) return failed(kptfile.error());
    ++packages;
    const auto unmet = unmet_gates(*kptfile);
    if (unmet.empty()) continue;
    made.code = 1;
    made.output += fmt::format("{}: not ready\n", folder.empty() ? kptfile->metadata.name : folder);
    for (const UnmetGate& gate : unmet) made.output += "  " + punch_list({gate});
  }
  if (made.code == 0) made.output = packages == 1 ? "ready\n" : fmt::format("ready: {} packages\n", packages);
  return made;
}

CommandOutcome render_command(RenderOutcome outcome) {
  CommandOutcome made;
  made.errors = std::move(outcome.log);
  if (outcome.files) {
    made.files = std::move(*outcome.files);
  } else {
    made.code = 1;
    made.files = std::move(outcome.unrendered);
  }
  return made;
}

CommandOutcome diff_command(const Files& before, const Files& after) {
  CommandOutcome made;
  made.output = diff(before, after);
  made.code = made.output.empty() ? 0 : 1;
  return made;
}

namespace {

/// The Kptfile follows the upstream that the new version was fetched from, as `kpt pkg update` leaves it. A folder that is the
/// upstream itself, or came from elsewhere, says nothing of that.
Result<void> follow_upstream(Files& files, const Files& upstream) {
  const auto mine = files.find(std::string(kKptfile));
  const auto its = upstream.find(std::string(kKptfile));
  if (mine == files.end() || its == upstream.end()) return {};
  SLIPWAY_TRY(local, read_one_yaml(mine->second));
  SLIPWAY_TRY(fetched, read_one_yaml(its->second));
  const auto at = [](const YamlTree& tree, std::string_view field) { return tree.root.get({"upstream", "git", field}); };
  const bool is_same = !at(local, "repo").empty() && at(local, "repo") == at(fetched, "repo") &&
                       at(local, "directory") == at(fetched, "directory");
  const Node* lock = fetched.root.find("upstreamLock");
  if (!is_same || lock == nullptr) return {};
  SLIPWAY_TRY(kept, KeptYaml::parse(mine->second));
  SLIPWAY_TRY_VOID(kept.set(0, std::vector<std::string>{"upstream", "git", "ref"}, json::Value(at(fetched, "ref"))));
  SLIPWAY_TRY_VOID(kept.set(0, std::vector<std::string>{"upstreamLock"}, value_or_null(*lock)));
  mine->second = kept.text();
  return {};
}

}  // namespace

CommandOutcome upgrade_command(const Files& origin, const Files& upstream, const Files& local, std::string_view strategy) {
  auto known = strategy_of(strategy);
  if (!known) return failed(known.error());
  auto upgraded = upgrade(origin, upstream, local, *known, Identity::Written);
  if (!upgraded) return failed(upgraded.error());
  if (auto followed = follow_upstream(upgraded->files, upstream); !followed) return failed(followed.error());
  CommandOutcome made;
  for (const Conflict& conflict : upgraded->conflicts) made.output += "conflict: " + describe(conflict) + "\n";
  made.output += fmt::format("upgraded, {} conflict(s)\n", upgraded->conflicts.size());
  made.files = std::move(upgraded->files);
  return made;
}

CommandOutcome condition_set_command(const Files& files, std::string_view assignment) {
  const std::size_t equals = assignment.find('=');
  KptCondition condition;
  condition.type = assignment.substr(0, equals);
  std::string_view rest = equals == std::string_view::npos ? std::string_view() : assignment.substr(equals + 1);
  condition.status = rest.substr(0, rest.find(':'));
  rest = rest.contains(':') ? rest.substr(rest.find(':') + 1) : std::string_view();
  condition.reason = rest.substr(0, rest.find(':'));
  if (rest.contains(':')) condition.message = rest.substr(rest.find(':') + 1);
  if (condition.type.empty() || (condition.status != "True" && condition.status != "False" && condition.status != "Unknown")) {
    return failed(fail(Reason::BadRequest,
                       fmt::format("{:?} is no condition: write TYPE=True, TYPE=False or TYPE=Unknown, with :REASON:MESSAGE "
                                   "behind it if you like",
                                   assignment))
                      .error());
  }
  auto text = kptfile_of(files);
  if (!text) return failed(text.error());
  return edited(files, with_condition(std::move(*text), condition));
}

CommandOutcome condition_list_command(const Files& files) {
  auto text = kptfile_of(files);
  if (!text) return failed(text.error());
  auto kptfile = read_kptfile(*text);
  if (!kptfile) return failed(kptfile.error());
  CommandOutcome made;
  if (!kptfile->status) return made;
  for (const KptCondition& one : kptfile->status->conditions) {
    made.output += fmt::format("{:<30} {:<8} {:<20} {}\n", one.type, one.status, one.reason, one.message);
  }
  return made;
}

CommandOutcome gate_command(const Files& files, GateVerb verb, std::string_view type) {
  auto text = kptfile_of(files);
  if (!text) return failed(text.error());
  return edited(files, verb == GateVerb::Add ? with_gate(std::move(*text), type) : without_gate(std::move(*text), type));
}

CommandOutcome tree_command(const Files& files, std::string_view name) {
  auto resources = read_resources(files);
  if (!resources) return failed(resources.error());
  Shelves shelves{{"", {}}};
  for (const Resource& resource : *resources) shelves[folder_of(resource.path)].push_back(&resource);
  CommandOutcome made;
  made.output = fmt::format("Package {:?}\n", name);
  draw(shelves, files, "", "", made.output);
  return made;
}

}  // namespace slipway::krm
