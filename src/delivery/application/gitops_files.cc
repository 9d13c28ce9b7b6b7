#include "delivery/application/gitops_files.h"

#include <fmt/format.h>

#include <algorithm>

#include "delivery/application/kind.h"
#include "json/text.h"
#include "kube/object.h"

namespace slipway::delivery::application {
namespace {

std::string folder_of(const Placement& placement, bool is_spread) {
  if (!is_spread) return "";
  return placement.ns.empty() ? placement.cluster + "/" : fmt::format("{}/{}/", placement.cluster, placement.ns);
}

bool is_secret(const Value& object) {
  return object["kind"].as_string() == "Secret" && object["apiVersion"].as_string() == "v1";
}

class FileMaker {
 public:
  FileMaker(const std::string& mark, SecretsInGit secrets) : mark_(mark), secrets_(secrets) {}

  Result<void> add(const std::string& file, const std::string& component, const Value& object) {
    if (is_secret(object) && secrets_ == SecretsInGit::omit) return {};
    if (is_secret(object) && secrets_ == SecretsInGit::refuse) {
      return fail(Reason::Invalid,
                  fmt::format("component {} renders Secret {}, which everybody could read in the repository: set secrets to "
                              "omit (it is left out) or include",
                              component, kube::name(object)));
    }
    std::string& text = files_[file];
    text += text.empty() ? mark_ : "---\n";
    text += json::print_yaml(object);
    if (!text.ends_with('\n')) text += '\n';
    return {};
  }
  std::map<std::string, std::string> take() { return std::move(files_); }

 private:
  const std::string& mark_;
  SecretsInGit secrets_;
  std::map<std::string, std::string> files_;
};

Result<void> add_component(FileMaker& files, const PlacedComponent& placed, bool is_spread) {
  const RenderedComponent& rendered = placed.rendered;
  if (!rendered.pending_traits.empty()) {
    return fail(Reason::Invalid, fmt::format("component {}: trait {} of its list is made from the live workload (stage "
                                             "PostDispatch), which a repository has not",
                                             rendered.name, rendered.pending_traits.front()));
  }
  if (rendered.name.empty() || rendered.name.find('/') != std::string::npos) {
    return fail(Reason::Invalid, fmt::format("component {}: its name makes no file", rendered.name));
  }
  const std::string name = rendered.name + ".yaml";
  const std::string folder = folder_of(placed.placement, is_spread);
  if (!rendered.workload.is_null() && !rendered.is_workload_managed) {
    SLIPWAY_TRY_VOID(files.add(folder + name, rendered.name, rendered.workload));
  }
  for (const RenderedObject& one : rendered.others) {
    const bool is_elsewhere = one.is_control_plane_only && is_spread && placed.placement.cluster != kHub;
    SLIPWAY_TRY_VOID(files.add(is_elsewhere ? fmt::format("{}/{}", kHub, name) : folder + name, rendered.name, one.object));
  }
  return {};
}

}  // namespace

std::string file_mark(const std::string& ns, const std::string& name) {
  return fmt::format("# Written by Slipway for Application {}/{}: changes here are lost.\n", ns, name);
}

Result<std::map<std::string, std::string>> gitops_files(const std::vector<PlacedComponent>& components, const std::string& mark,
                                                        SecretsInGit secrets) {
  const bool is_spread = std::ranges::any_of(
      components, [](const PlacedComponent& one) { return one.placement.cluster != kHub || !one.placement.ns.empty(); });
  FileMaker files(mark, secrets);
  for (const PlacedComponent& one : components) SLIPWAY_TRY_VOID(add_component(files, one, is_spread));
  return files.take();
}

}  // namespace slipway::delivery::application
