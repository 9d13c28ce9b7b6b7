// Names that rendering makes up. They must be those of KubeVela, so that an Application which it has delivered is taken over
// without making its objects again under other names (kubevela/kubevela pkg/oam/util).
#pragma once

#include <cstdint>
#include <string>

#include "delivery/application/spec.h"

namespace slipway::delivery::application {

/// `<component>-<type in lower case>-<hash>` for an object without a name. `object` has the labels it has at that moment, but
/// not that of the revision, so that an upgrade keeps the name.
std::string generated_name(const std::string& component, const std::string& trait_type, const Value& object);

/// The object as Go's spew prints it with "%#v" and sorted keys: what generated_name hashes.
///   {"a": [1, "b"]} → (unstructured.Unstructured){Object:(map[string]interface {})map[a:([]interface {})[(int64)1 (string)b]]}
std::string go_dump(const Value& object);

/// Whether a plan of a rollout counts as part of what carries it. It did in revisions of before kPlanFree.
enum class PlanIn : std::uint8_t { None, Revision };

/// Sixteen hexadecimal digits that change with what the component says, whatever the order of its fields: `context.revision`.
/// A plan of a rollout that it carries is no part of it, but where `counts` says so.
/// DIVERGES: the digits are not those of KubeVela.
std::string component_revision(const ComponentSpec& component, PlanIn counts = PlanIn::None);

/// NAME@v1.2 as labels and the names of DefinitionRevisions have it: NAME-v1.2.
std::string revision_name(const std::string& type);

}  // namespace slipway::delivery::application
