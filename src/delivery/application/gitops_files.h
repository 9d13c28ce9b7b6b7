// Rendered objects as the files of a git repository. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "delivery/application/policy.h"
#include "delivery/application/render.h"

namespace slipway::delivery::application {

/// What becomes of objects that are Secrets: whoever reads the repository would read them.
enum class SecretsInGit : std::uint8_t { refuse, omit, include };

/// A component as it is rendered for one place.
struct PlacedComponent {
  Placement placement;
  RenderedComponent rendered;
};

/// The first line of every file that belongs to the Application, with its newline.
std::string file_mark(const std::string& ns, const std::string& name);

/// One file per component and place, objects in their order: COMPONENT.yaml, with a topology CLUSTER/COMPONENT.yaml or
/// CLUSTER/NAMESPACE/COMPONENT.yaml. What traits give to the control plane only stands below "local". Errors: Invalid for
/// Secrets (where they are refused), for traits that need the live workload, and for names that make no file.
Result<std::map<std::string, std::string>> gitops_files(const std::vector<PlacedComponent>& components, const std::string& mark,
                                                        SecretsInGit secrets);

}  // namespace slipway::delivery::application
