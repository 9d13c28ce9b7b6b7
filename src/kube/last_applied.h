// The annotation kubectl.kubernetes.io/last-applied-configuration, in which client-side apply keeps what it applied. So that
// the two ways of applying can be mixed, server-side apply by the manager "kubectl" reads it (what it says, and the object
// still has, is not fought over) and keeps it in step (k8s.io/apimachinery managedfields, lastAppliedManager and
// lastAppliedUpdater).
#pragma once

#include <string_view>

#include "json/value.h"
#include "kube/field_set.h"
#include "kube/schema_node.h"

namespace slipway::kube {

inline constexpr std::string_view kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";
/// Only this manager reads and writes the annotation; others opt out by their name.
inline constexpr std::string_view kLastAppliedManager = "kubectl";

/// The fields that the annotation of `live` lists with the values they still have; empty without an annotation that can be
/// read.
FieldSet last_applied_fields(const SchemaNode* node, const json::Value& live);
/// `object` with the annotation saying `config`; `object` itself when it has no such annotation.
json::Value with_last_applied(const json::Value& object, const json::Value& config);
/// The text of the annotation: keys sorted, without the annotation itself, as kubectl writes it.
std::string last_applied_text(const json::Value& config);

}  // namespace slipway::kube
