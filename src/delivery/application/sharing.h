// Whom a live object belongs to, and who shares it. The labels app.oam.dev/name and app.oam.dev/namespace name the one
// application that owns an object; under policy shared-resource an annotation lists all that use it, the owner included.
// Pure. Whoever writes the list carries the resourceVersion it was read at: others write it at the same time.
#pragma once

#include <string>
#include <vector>

#include "kube/object.h"

namespace slipway::delivery::application {

/// Attempts at one object while others write it too.
inline constexpr int kMostAttempts = 10;

/// "namespace/name", as owners and sharers are called.
std::string sharer_name(const kube::Object& application);
/// Who owns the object; empty: no application.
std::string owner_of(const kube::Object& live);
/// In the order of the list.
std::vector<std::string> sharers_of(const kube::Object& live);
bool is_shared_by(const kube::Object& live, const std::string& sharer);
/// The list with `sharer` in it, behind those that were there.
std::string with_sharer(const kube::Object& live, const std::string& sharer);

}  // namespace slipway::delivery::application
