#include "delivery/family/rendered_mark.h"

#include <algorithm>

#include "delivery/family/annotation.h"
#include "delivery/family/identity.h"
#include "json/text.h"

namespace slipway::delivery {
namespace {

bool has_same_content(const kube::Object& one, const kube::Object& other) {
  const bool is_same = one["data"] == other["data"] && one["binaryData"] == other["binaryData"];
  return is_same && !one.has("stringData");  // of a Secret: becomes data once admission has passed
}

}  // namespace

bool is_record_name(std::string_view name) {
  if (name.starts_with("workflow-") && name.contains("-context")) return true;
  const auto at = name.rfind("-v");
  return at != std::string_view::npos && at + 2 < name.size() &&
         name.substr(at + 2).find_first_not_of("0123456789") == std::string_view::npos;
}

std::vector<kube::UserInfo> content_authors(const kube::Object& object) {
  const std::string_view text = kube::annotation(object, kContentAuthors);
  return text.empty() ? std::vector<kube::UserInfo>{} : read_identities(text);
}

bool is_written_by_user(const kube::Object& object) {
  return !is_marked_rendered(object) && !kube::annotation(object, kContentAuthors).empty();
}

bool is_marked_rendered(const kube::Object& config_map) { return kube::annotation(config_map, kRenderedMark) == "true"; }

kube::Object keep_rendered_mark(const kube::Object& config_map, const kube::Object& old, const kube::Asker& asker) {
  if (asker.user == nullptr) return config_map;
  const json::Value& kept = old["metadata"]["annotations"];
  if (!old.is_null() && has_same_content(config_map, old)) {
    return with_annotation(with_annotation(config_map, kRenderedMark, kept[kRenderedMark]), kContentAuthors,
                           kept[kContentAuthors]);
  }
  const bool is_recorded = is_record_name(kube::name(config_map)) || kept.has(kRenderedMark) || kept.has(kContentAuthors);
  json::Value authors;
  if (is_recorded) {
    std::vector<kube::UserInfo> users{*asker.user};
    if (asker.user->narrowing) std::ranges::copy(asker.user->narrowing->by, std::back_inserter(users));
    authors = json::print(identity_list(users));
  }
  return with_annotation(with_annotation(config_map, kRenderedMark, {}), kContentAuthors, authors);
}

}  // namespace slipway::delivery
