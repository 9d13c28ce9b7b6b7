// What a kubeconfig tells of its own end: when the client certificate or the token of its current context expires. Pure.
#pragma once

#include <optional>
#include <string>

#include "base/time.h"
#include "kube/object.h"

namespace slipway::delivery::pipeline {

struct Expiry {
  std::string what{};  // "client certificate", "token"
  Time at{};
};

/// The earlier one; nullopt where nothing tells (opaque tokens, passwords), or the kubeconfig cannot be read.
std::optional<Expiry> expiry_of(const std::string& kubeconfig);

/// The kubeconfig out of a Secret: the first of the keys value, value.yaml and kubeconfig that is there and no empty text.
/// Empty when there is none.
std::string kubeconfig_in(const kube::Object& secret);

}  // namespace slipway::delivery::pipeline
