#include "delivery/family/rendered_mark.h"

namespace slipway::delivery {
namespace {

bool has_same_content(const kube::Object& one, const kube::Object& other) {
  return one["data"] == other["data"] && one["binaryData"] == other["binaryData"];
}

}  // namespace

bool is_marked_rendered(const kube::Object& config_map) { return kube::annotation(config_map, kRenderedMark) == "true"; }

kube::Object keep_rendered_mark(const kube::Object& config_map, const kube::Object& old, const kube::Asker& asker) {
  if (asker.user == nullptr) return config_map;
  const bool is_marked = !old.is_null() && is_marked_rendered(old) && has_same_content(config_map, old);
  if (is_marked == is_marked_rendered(config_map)) return config_map;
  return is_marked ? config_map.with_path({"metadata", "annotations", kRenderedMark}, "true")
                   : config_map.without_path({"metadata", "annotations", kRenderedMark});
}

}  // namespace slipway::delivery
