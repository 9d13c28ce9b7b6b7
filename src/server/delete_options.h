// meta/v1 DeleteOptions: preconditions, grace and what becomes of dependents.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "json/value.h"
#include "kube/object.h"

namespace slipway::server {

struct DeleteOptions {
  enum class Propagation : std::uint8_t { Unsaid, Background, Foreground, Orphan };
  std::optional<std::int64_t> grace_seconds;
  Propagation propagation = Propagation::Unsaid;
  std::string uid;               // precondition; empty: none
  std::string resource_version;  // precondition; empty: none

  /// From a request's body; null gives the defaults. Invalid DeleteOptions, or BadRequest for another object.
  static Result<DeleteOptions> of(const json::Value& body);
};

/// metadata.finalizers as they must be once deletion begins: `orphan` and `foregroundDeletion` as the options say, else as they
/// are, else by the kind's default.
json::Value finalizers_for_delete(const kube::Object& object, const DeleteOptions& options, bool orphans_by_default);

}  // namespace slipway::server
