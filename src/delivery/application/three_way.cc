#include "delivery/application/three_way.h"

#include <memory>

#include "json/patch.h"
#include "json/text.h"
#include "kube/builtin.h"
#include "kube/object.h"
#include "kube/schema.h"
#include "kube/strategic_merge.h"

namespace slipway::delivery::application {
namespace {

using json::Value;

constexpr const char* kLastApplied = "app.oam.dev/last-applied-configuration";

bool says_no(std::string_view annotation) { return annotation == "-" || annotation == "skip"; }

bool is_remembered(const Value& manifest) { return kube::kind(manifest) != "Secret" && kube::kind(manifest) != "ConfigMap"; }

/// The schema of a built-in kind; null for others.
const kube::SchemaNode* schema_of(const Value& object) {
  static const std::vector<kube::ResourceType> kTypes = kube::builtin_types();
  const auto kind = kube::GroupVersionKind::of(object);
  if (!kind) return nullptr;
  for (const kube::ResourceType& type : kTypes) {
    if (type.kind == *kind && type.schema) return &type.schema->root();
  }
  return nullptr;
}

}  // namespace

Value with_last_applied(const Value& manifest, const Value& live) {
  const Value plain = manifest.without_path({"metadata", "annotations", kLastApplied});
  if (!is_remembered(manifest)) return plain;
  const auto before = kube::annotation(live, kLastApplied);
  return plain.with_path({"metadata", "annotations", kLastApplied}, says_no(before) ? std::string(before) : json::print(plain));
}

Result<ThreeWayPatch> three_way_patch(const Value& manifest, const Value& live) {
  const Value wanted = with_last_applied(manifest, live);
  const auto last = json::parse(kube::annotation(live, kLastApplied));
  const Value original = last && last->is_object() ? *last : Value::empty_object();
  const kube::SchemaNode* node = schema_of(manifest);
  if (node == nullptr) {
    return ThreeWayPatch{client::PatchType::Merge, json::create_three_way_merge_patch(original, wanted, live)};
  }
  SLIPWAY_TRY(patch, kube::create_three_way_strategic_merge(node, original, wanted, live));
  return ThreeWayPatch{client::PatchType::StrategicMerge, std::move(patch)};
}

}  // namespace slipway::delivery::application
