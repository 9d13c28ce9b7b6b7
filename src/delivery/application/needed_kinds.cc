#include "delivery/application/needed_kinds.h"

#include <fmt/format.h>

#include "base/text.h"
#include "delivery/application/kind.h"
#include "kube/object.h"

namespace slipway::delivery::application {
namespace {

/// "HelmRelease.v2.helm.toolkit.fluxcd.io"
kube::GroupVersionKind kind_in_text(std::string_view text) {
  const auto kind_end = std::min(text.find('.'), text.size());
  const auto version_end = std::min(text.find('.', kind_end + 1), text.size());
  if (kind_end == text.size() || version_end == text.size()) return {"", "", std::string(text)};
  return {std::string(text.substr(version_end + 1)), std::string(text.substr(kind_end + 1, version_end - kind_end - 1)),
          std::string(text.substr(0, kind_end))};
}

/// Whether a cluster serves the kind, or may do so.
Task<bool> is_served(control::Reconcile& run, LiveObjects& live, kube::GroupVersionKind kind) {
  for (const std::string& name : live.clusters().names()) {
    const bool is_hub = name == live.known_as(kHub);
    const auto client = is_hub ? Result<client::Client*>(&run.client) : run.on(name);
    if (!client) co_return true;
    const auto found = co_await live.kinds().find(**client, is_hub ? kHub : name, kind);
    if (found || found.error().reason != Reason::NotFound) co_return true;
  }
  co_return false;
}

}  // namespace

Task<Result<void>> check_needed_kinds(control::Reconcile& run, LiveObjects& live, Value spec, Lookup lookup) {
  const auto application = read_application(spec);
  if (!application) co_return Result<void>{};
  for (const ComponentSpec& component : application->components) {
    const auto definition = lookup.definition(DefinitionKind::Component, component.type);
    if (!definition) continue;
    const Value object = (*definition)->object;
    const std::string needed(kube::annotation(object, kNeedsKinds));
    for (const std::string_view text : split(needed, ',')) {
      const kube::GroupVersionKind kind = kind_in_text(trimmed(text));
      if (kind.kind.empty() || co_await is_served(run, live, kind)) continue;
      co_return fail(
          Reason::NotFound,
          fmt::format("failed to parse component {}: {} \"{}\" makes objects of kind {} ({}), which no cluster serves: "
                      "install the custom resource definitions of {}",
                      component.name, kind_of(DefinitionKind::Component), component.type, kind.kind, kind.api_version(),
                      kube::annotation(object, kWaitsForKinds)));
    }
  }
  co_return Result<void>{};
}

}  // namespace slipway::delivery::application
