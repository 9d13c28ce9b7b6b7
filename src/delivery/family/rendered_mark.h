// The mark of ConfigMaps that hold the rendered resources of a revision: proof that what they hold is what the Application's
// controller rendered. Only the process sets it, and a change of the content by anyone else removes it, so a controller that
// applies the content (AppRollout) can tell rendered resources from what an editor of the namespace wrote.
//
// Beside it the annotation kContentAuthors (identity.h) lists the users whose rights limit what the content may do: for
// rendered content the Application's author and the users who narrow that author; for content that a user wrote, that user and
// the users who narrow it. Admission records them for ConfigMaps and Secrets with an is_record_name, and for those that already
// have the mark or the annotation. Controllers trust no other record. Pure.
#pragma once

#include <string_view>
#include <vector>

#include "kube/admission.h"
#include "kube/user.h"

namespace slipway::delivery {

inline constexpr const char* kRenderedMark = "slipway.dev/rendered";

bool is_marked_rendered(const kube::Object& config_map);

/// A name under which the process keeps what it will believe later: "web-v3" (a revision), "workflow-web-context" (a run).
bool is_record_name(std::string_view name);
/// Those with whose rights the content may be used; empty: nothing is recorded.
std::vector<kube::UserInfo> content_authors(const kube::Object& object);
/// A user has written the content of what the process keeps for itself.
bool is_written_by_user(const kube::Object& object);

/// The object to store: with the mark and the authors of `old` where the content is unchanged; else without the mark, and with
/// the user as author. What the process itself writes stays as it is. For the `mutate_for` rows of ConfigMaps and Secrets.
kube::Object keep_rendered_mark(const kube::Object& config_map, const kube::Object& old, const kube::Asker& asker);

}  // namespace slipway::delivery
