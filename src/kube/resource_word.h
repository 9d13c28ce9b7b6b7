// What people type to name a kind: "workflows", "workflow", "Workflow", "wf", "workflows.batch.slipway.dev".
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "kube/resource.h"

namespace slipway::kube {

using ResourceTypePtr = std::shared_ptr<const ResourceType>;

/// The type that `word` names, by plural, singular or kind in any case, or by a short name where nothing has that name; after
/// a dot, its group. Built-in kinds win over custom ones; of custom kinds of several groups the first group by name is taken,
/// as kubectl does, and of several versions the first in `types`. NotFound when there is none.
Result<ResourceTypePtr> find_by_word(std::span<const ResourceTypePtr> types, std::string_view word);

}  // namespace slipway::kube
