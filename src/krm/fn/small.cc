// Functions of a few lines: no-op, drop-comments, remove-local-config-resources, set-enforcement-action, set-image,
// set-project-id.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>

#include "krm/fn/rows.h"
#include "krm/walk.h"

namespace slipway::krm::fn {
namespace {

void drop(Node& node) {
  node.head.clear();
  node.line.clear();
  node.foot.clear();
  for (Node& child : node.children) drop(child);
}

std::string lower(std::string_view text) {
  std::string made(text);
  std::ranges::transform(made, made.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return made;
}

struct Image {
  std::string name;
  std::string new_name;
  std::string new_tag;
  std::string digest;
};

// The name of "registry:5000/a/b:v1@sha256:…" ends at the tag or the digest.
std::size_t name_end(std::string_view image) {
  const std::size_t at = std::min(image.find('@'), image.size());
  const std::size_t slash = image.substr(0, at).rfind('/');
  const std::size_t colon = image.find(':', slash == std::string_view::npos ? 0 : slash);
  return std::min(colon, at);
}

std::string with_image(std::string_view old, const Image& image) {
  const std::size_t end = name_end(old);
  std::string made(image.new_name.empty() ? old.substr(0, end) : std::string_view(image.new_name));
  if (!image.digest.empty()) return made + "@" + image.digest;
  if (!image.new_tag.empty()) return made + ":" + image.new_tag;
  return made + std::string(old.substr(end));
}

Result<Image> read_image(const ResourceList& list) {
  Image made;
  auto data = list.data();
  const Node* custom = list.has_config() && list.config->kind() == "SetImage" ? list.config->root().find("image") : nullptr;
  for (std::size_t i = 0; custom != nullptr && i < custom->pairs(); ++i) data[custom->key(i).text] = custom->value(i).text;
  const std::pair<std::string_view, std::string Image::*> kFields[] = {
      {"name", &Image::name}, {"newName", &Image::new_name}, {"newTag", &Image::new_tag}, {"digest", &Image::digest}};
  for (const auto& [key, text] : data) {
    const auto found = std::ranges::find(kFields, key, [](const auto& row) { return row.first; });
    if (found == std::end(kFields)) return fail(Reason::Invalid, fmt::format("ConfigMap has wrong field name {}", key));
    made.*(found->second) = text;
  }
  const auto invalid = [](std::string_view text) {
    return fail(Reason::Invalid, fmt::format("invalid FunctionConfig: {}", text));
  };
  if (made.name.empty()) return invalid("must specify `name`");
  if (made.new_name.empty() && made.new_tag.empty() && made.digest.empty()) {
    return invalid("must specify one of `newName`, `newTag`, or `digest`");
  }
  if (!made.new_tag.empty() && !made.digest.empty())
    return invalid("image `newTag` and `digest` both provided. Specify one of them");
  return made;
}

}  // namespace

Result<void> no_op(ResourceList&) { return {}; }

Result<void> drop_comments(ResourceList& list) {
  for (Resource& resource : list.items) {
    drop(resource.root());
    resource.tree.head.clear();
    resource.tree.foot.clear();
  }
  return {};
}

Result<void> remove_local_config_resources(ResourceList& list) {
  std::vector<FunctionResult> results;
  std::vector<Resource> kept;
  for (Resource& resource : list.items) {
    if (lower(resource.annotation(kLocalConfig)) != "true") {
      kept.push_back(std::move(resource));
      continue;
    }
    FunctionResult made = FunctionResult::info(fmt::format("Resource name: [{}]", resource.name()));
    made.file_path = resource.path;
    results.push_back(std::move(made));
  }
  list.items = std::move(kept);
  list.results.push_back(results.empty()
                             ? FunctionResult::warning("Found no resources to prune with the local config annotation")
                             : FunctionResult::info(fmt::format("Number of resources pruned: {}", results.size())));
  std::ranges::move(results, std::back_inserter(list.results));
  return {};
}

Result<void> set_enforcement_action(ResourceList& list) {
  const auto refuse = [&](std::string message) {
    list.results.push_back(FunctionResult::error(message));
    return fail(Reason::Invalid, std::move(message));
  };
  auto data = list.data();
  if (data.size() != 1) return refuse("expecting exactly 1 enforcementAction as part of the ConfigMap");
  const std::string action = data["enforcementAction"];
  if (action != "deny" && action != "warn" && action != "dryrun") {
    return refuse("expected values for enforcementAction are [deny] or [warn] or [dryrun]");
  }
  std::vector<FunctionResult> results;
  for (Resource& resource : list.items) {
    if (resource.api_version() != "constraints.gatekeeper.sh/v1beta1" || resource.name().empty()) continue;
    Node& spec = resource.root().mapping_at("spec");
    Node* found = spec.find("enforcementAction");
    if (found != nullptr && found->is_scalar()) {
      found->set_text(action);
    } else {
      spec.set("enforcementAction", Node::string(action));
    }
    FunctionResult made = FunctionResult::info(fmt::format("Policy name: [{}]", resource.name()));
    made.file_path = resource.path;
    results.push_back(std::move(made));
  }
  list.results.push_back(results.empty()
                             ? FunctionResult::warning(fmt::format("Found no policy to set to [{}]", action))
                             : FunctionResult::info(fmt::format("Number of policies set to [{}]: {}", action, results.size())));
  std::ranges::move(results, std::back_inserter(list.results));
  return {};
}

// DIVERGES: init containers and the pods of Jobs and CronJobs count too; upstream passes over them by mistake.
Result<void> set_image(ResourceList& list) {
  SLIPWAY_TRY(image, read_image(list));
  std::size_t count = 0;
  const auto set_at = [&](Resource& resource, std::string_view path) {
    for (Node* node : select_nodes(resource.root(), split_field_path(path), Lists::GoneThrough)) {
      if (!node->is_scalar() || std::string_view(node->text).substr(0, name_end(node->text)) != image.name) continue;
      node->set_text(with_image(node->text, image));
      ++count;
    }
  };
  const Node* additional = list.has_config() ? list.config->root().find("additionalImageFields") : nullptr;
  for (Resource& resource : list.items) {
    for (std::string_view spec : {"spec", "template.spec", "spec.template.spec", "spec.jobTemplate.spec.template.spec"}) {
      if (spec == "spec" && resource.kind() != "Pod") continue;
      if (spec == "template.spec" && resource.kind() != "PodTemplate") continue;
      for (std::string_view containers : {"containers", "initContainers"})
        set_at(resource, fmt::format("{}.{}.image", spec, containers));
    }
    for (std::size_t i = 0; additional != nullptr && i < additional->children.size(); ++i) {
      const Node& field = additional->children[i];
      const auto fits = [&](std::string_view key, std::string_view value) {
        return field.get({key}).empty() || field.get({key}) == value;
      };
      if (!fits("group", resource.group()) || !fits("version", resource.version()) || !fits("kind", resource.kind())) continue;
      std::string path(field.get({"path"}));
      std::ranges::replace(path, '/', '.');
      for (std::size_t at = path.find("[]"); at != std::string::npos; at = path.find("[]")) path.erase(at, 2);
      set_at(resource, path);
    }
  }
  list.results.push_back(FunctionResult::info(fmt::format("summary: updated a total of {} image(s)", count)));
  return {};
}

// The setter project-id of the package's apply-setters, and the annotation of Google's resources that have none.
Result<void> set_project_id(ResourceList& list) {
  constexpr std::string_view kKey = "cnrm.cloud.google.com/project-id";
  auto data = list.data();
  const std::string id = data["project-id"].empty() ? data["projectID"] : data["project-id"];
  if (id.empty()) return fail(Reason::Invalid, "`project-id` must not be empty");
  for (Resource& kptfile : list.items) {
    Node* mutators = kptfile.is_kptfile() ? kptfile.root().at({"pipeline", "mutators"}) : nullptr;
    for (std::size_t i = 0; mutators != nullptr && i < mutators->children.size(); ++i) {
      Node& function = mutators->children[i];
      if (function_name(function.get({"image"})) != "apply-setters") continue;
      Node* setters = function.find("configMap");
      const std::string folder = kptfile.package.empty() ? "" : kptfile.package + "/";
      for (Resource& config : list.items) {
        if (!function.get({"configPath"}).empty() && config.path == folder + std::string(function.get({"configPath"}))) {
          setters = &config.root().mapping_at("data");
        }
      }
      if (setters != nullptr && setters->find("project-id") == nullptr) setters->set("project-id", Node::string(id));
    }
  }
  for (Resource& resource : list.items) {
    const std::string_view group = resource.group();
    if (!group.ends_with(".cnrm.cloud.google.com") || group == "core.cnrm.cloud.google.com") continue;
    Node& annotations = resource.root().mapping_at({"metadata", "annotations"});
    if (annotations.find(kKey) == nullptr) annotations.set(kKey, Node::string(id));
  }
  return {};
}

}  // namespace slipway::krm::fn
