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

std::string comment_of(const Resource& resource) {
  return fmt::format("# kpt-merge: {}/{}", resource.namespace_name(), resource.name());
}

void mark(Resource& resource) {
  Node* metadata = resource.root().find("metadata");
  if (metadata == nullptr || !metadata->is_mapping() || resource.name().empty()) return;
  Node* key = resource.root().key_node("metadata");
  if (key->line.empty() && !metadata->is_flow) key->line = comment_of(resource);
  Node& annotations = metadata->mapping_at("annotations");
  if (annotations.find(kIdentifier) != nullptr) return;
  Node made = Node::string(identifier(resource));
  made.style = Node::Style::SingleQuoted;
  annotations.set(kIdentifier, std::move(made));
}

/// The text with marks; as it was where it is no text of resources.
std::string marked(const std::string& text) {
  auto kept = KeptYaml::parse(text);
  if (!kept) return text;
  std::vector<MetadataMark> marks;
  for (std::size_t i = 0; i < kept->documents().size(); ++i) {
    Resource resource;
    resource.tree = kept->documents()[i];
    const Node* metadata = resource.root().find("metadata");
    const bool is_resource = metadata != nullptr && metadata->is_mapping() && !resource.name().empty() &&
                             !resource.kind().empty() && !resource.is_kptfile();
    if (!is_resource) continue;
    MetadataMark one{.document = i, .comment = comment_of(resource)};
    if (resource.annotation(kIdentifier).empty()) {
      one.annotation = kIdentifier;
      one.value = identifier(resource);
    }
    marks.push_back(std::move(one));
  }
  if (marks.empty() || !kept->mark(marks)) return text;
  return kept->text();
}

}  // namespace

Files with_merge_marks(Files files) {
  const auto ignored = files.find(".krmignore");
  const Ignore ignore = ignored == files.end() ? Ignore() : Ignore(ignored->second);
  for (auto& [path, text] : files) {
    if (is_krm_file(path) && !path.ends_with(kKptfile) && !ignore.ignores(path)) text = marked(text);
  }
  return files;
}

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
