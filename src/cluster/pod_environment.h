// The environment and command line of a container, as its spec asks for them: env, envFrom, valueFrom and $(VAR) references.
// Pure functions over the pod and the ConfigMaps and Secrets it names.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "kube/object.h"

namespace slipway::cluster {

/// What a pod refers to, fetched before. A name without an object is missing.
struct PodInputs {
  std::map<std::string, kube::Object> config_maps{};
  std::map<std::string, kube::Object> secrets{};
  std::map<std::string, kube::Object> claims{};
};

/// Names of everything of its namespace that a pod refers to.
struct PodReferences {
  std::vector<std::string> config_maps{};
  std::vector<std::string> secrets{};
  std::vector<std::string> claims{};
};
PodReferences references_of(const kube::Object& pod);

/// Variables in the order of their making; later ones of a name replace earlier ones.
using Environment = std::vector<std::pair<std::string, std::string>>;

/// `base` first, then envFrom, then env. The pod has its address in its status already. Fails (NotFound, or Invalid) with a
/// message that names what is missing.
Result<Environment> environment_of(const kube::Object& pod, const json::Value& container, const PodInputs& inputs,
                                   Environment base);
/// $(NAME) becomes the variable's value; unknown names stay as written, $$(NAME) gives $(NAME).
std::string expand(std::string_view text, const Environment& environment);
/// data (and binaryData, decoded) of a ConfigMap, or the decoded data of a Secret. BadRequest when it is not base64.
Result<std::map<std::string, std::string>> data_of(const kube::Object& config_map_or_secret);

}  // namespace slipway::cluster
