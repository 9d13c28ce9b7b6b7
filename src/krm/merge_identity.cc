#include <fmt/format.h>

#include "krm/merge.h"

namespace slipway::krm {
namespace {

constexpr std::string_view kIdentifier = "internal.kpt.dev/upstream-identifier";

std::string identifier(const Resource& resource) {
  // Whatever the kind's scope is.
  const std::string_view ns = resource.namespace_name().empty() ? "default" : resource.namespace_name();
  return fmt::format("{}|{}|{}|{}", resource.group(), resource.kind(), ns, resource.name());
}

void mark(Resource& resource) {
  Node* metadata = resource.root().find("metadata");
  if (metadata == nullptr || !metadata->is_mapping() || resource.name().empty()) return;
  Node* key = resource.root().key_node("metadata");
  if (key->line.empty() && !metadata->is_flow)
    key->line = fmt::format("# kpt-merge: {}/{}", resource.namespace_name(), resource.name());
  Node& annotations = metadata->mapping_at("annotations");
  if (annotations.find(kIdentifier) != nullptr) return;
  Node made = Node::string(identifier(resource));
  made.style = Node::Style::SingleQuoted;
  annotations.set(kIdentifier, std::move(made));
}

}  // namespace

Result<Files> with_merge_identity(const Files& files) {
  SLIPWAY_TRY(resources, read_resources(files));
  std::erase_if(resources, [](const Resource& resource) { return resource.kind() == kKptfile; });
  for (Resource& resource : resources) mark(resource);
  Files rest = files;
  std::erase_if(rest, [&](const auto& file) {
    return is_krm_file(file.first) && !is_ignored(files, file.first) && !file.first.ends_with(kKptfile);
  });
  SLIPWAY_TRY(written, write_resources({}, std::move(resources)));
  rest.merge(written);
  return rest;
}

}  // namespace slipway::krm
