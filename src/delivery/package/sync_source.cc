// The kind RootSync, and what of a folder is applied; pure.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "delivery/package/kind.h"
#include "delivery/package/sync.h"
#include "json/text.h"
#include "krm/package.h"
#include "kube/crd_schema.h"

namespace slipway::delivery::package {
namespace {

using json::Value;

constexpr std::string_view kKnownGit[] = {"repo", "branch", "revision", "dir", "period", "auth", "noSSLVerify"};
constexpr std::string_view kKnown[] = {"git", "sourceType", "sourceFormat"};

Value any_object() { return json::object({{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}}); }

bool is_manifest(std::string_view path) { return path.ends_with(".yaml") || path.ends_with(".yml") || path.ends_with(".json"); }

constexpr int kLastRank = 2;
/// Namespaces and definitions before what is of them.
int rank(const kube::Object& manifest) {
  if (kube::kind(manifest) == "Namespace") return 0;
  return kube::kind(manifest) == "CustomResourceDefinition" ? 1 : kLastRank;
}

}  // namespace

Value sync_definition() {
  kube::CrdSpec spec;
  spec.group = kRootSyncKind.group;
  spec.version = kRootSyncKind.version;
  spec.kind = kRootSyncKind.kind;
  spec.plural = kRootSyncs.plural;
  spec.columns = {kube::column("RenderingCommit", ".status.rendering.commit"),
                  kube::column("SourceCommit", ".status.source.commit"),
                  kube::column("SourceErrorCount", ".status.source.errorSummary.totalCount", "integer"),
                  kube::column("SyncCommit", ".status.sync.commit"),
                  kube::column("SyncErrorCount", ".status.sync.errorSummary.totalCount", "integer")};
  spec.doc = "Keeps what a Git repository has applied to this cluster.";
  spec.spec_schema = any_object();
  spec.status_schema = any_object();
  return kube::make_crd(spec);
}

std::string not_synced(const Value& spec) {
  const auto unknown = [](const Value& in, auto& known) -> std::string {
    for (const auto& [key, value] : in.members()) {
      if (std::ranges::find(known, key) == std::end(known)) return std::string(key);
    }
    return "";
  };
  if (const std::string field = unknown(spec, kKnown); !field.empty()) {
    return fmt::format("spec.{}: not implemented here: leave it out", field);
  }
  const std::string_view type = spec["sourceType"].as_string();
  if (!type.empty() && type != "git") return fmt::format("spec.sourceType: {} is not implemented here: use git", type);
  const std::string_view format = spec["sourceFormat"].as_string();
  if (format == "hierarchy" || format.empty()) {
    return "spec.sourceFormat: hierarchy, which is meant where it is absent, is not implemented here: use unstructured";
  }
  const Value& git = spec["git"];
  if (const std::string field = unknown(git, kKnownGit); !field.empty()) {
    return fmt::format("spec.git.{}: not implemented here: leave it out", field);
  }
  if (git["repo"].as_string().empty()) return "spec.git.repo: it is required";
  if (git["auth"].as_string() != "none") {
    return fmt::format("spec.git.auth: {:?} is not implemented here: use none", git["auth"].as_string());
  }
  const std::string_view revision = git["revision"].as_string();
  if (!revision.empty() && revision != "HEAD") return "spec.git.revision: only HEAD is implemented here: name a branch";
  if (git["noSSLVerify"].as_bool()) return "spec.git.noSSLVerify: certificates are always verified here: leave it out";
  return "";
}

Result<std::vector<kube::Object>> manifests_in(const Files& files) {
  std::vector<kube::Object> manifests;
  for (const auto& [path, text] : files) {
    const std::size_t slash = path.rfind('/');
    const std::string_view name =
        slash == std::string::npos ? std::string_view(path) : std::string_view(path).substr(slash + 1);
    if (!is_manifest(name)) continue;
    if (name == "kustomization.yaml" || name == "kustomization.yml") {
      return fail(Reason::BadRequest, fmt::format("{}: rendering with kustomize is not implemented here", path));
    }
    const auto documents = json::parse_yaml_all(text);
    if (!documents) return fail(Reason::BadRequest, fmt::format("{}: {}", path, documents.error().message));
    for (const json::YamlDocument& document : *documents) {
      if (document.value.is_null()) continue;
      const auto kind = kube::GroupVersionKind::of(document.value);
      if (!kind) return fail(Reason::BadRequest, fmt::format("{}: {}", path, kind.error().message));
      if (kind->kind == krm::kKptfile || kube::annotation(document.value, krm::kLocalConfig) == "true") continue;
      if (kube::name(document.value).empty()) {
        return fail(Reason::BadRequest, fmt::format("{}: a {} has no metadata.name", path, kind->kind));
      }
      manifests.push_back(document.value);
    }
  }
  std::vector<kube::Object> ordered;
  for (int place = 0; place <= kLastRank; ++place) {
    std::ranges::copy_if(manifests, std::back_inserter(ordered), [&](const auto& one) { return rank(one) == place; });
  }
  return ordered;
}

}  // namespace slipway::delivery::package
