// Objects of any kind as people see them: the row of the kind's family where there is one (delivery/family.h), else what holds
// for every kind. The command line uses these for the embedded cluster and for one elsewhere; the view says which.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plane/families.h"

namespace slipway::plane {

/// "workflow/release": how messages name an object.
std::string title(const kube::Object& object);

/// Whether a delivery waits for the end of objects of this kind: those with a verdict in their family's row, Jobs and Pods.
bool has_end(const kube::GroupVersionKind& kind, Families of = families());

/// Whether and how the object has ended; nullopt while it is under way. Kinds without a row end by the conditions Complete and
/// Failed, pods by their phase; a pod that is to run for ever is delivered once it is ready.
std::optional<delivery::Verdict> verdict(const kube::Object& object, Families of = families());

/// Whether the object goes on only when a person says so.
bool waits_for_person(const kube::Object& object, Families of = families());

/// What a delivery prints about a change of an object that it follows; `before` is null for one that appeared.
std::vector<delivery::News> news(const kube::Object& before, const kube::Object& after, Families of = families());

/// The last word about an object, or the present one: a line, and a table where the kind has one.
std::string summary(const kube::Object& object, const control::View& view, Families of = families());

/// What `describe` prints. `events` may be of any objects: those about `object` are taken.
std::string description(const kube::Object& object, std::vector<kube::Object> events, const control::View& view,
                        Families of = families());

/// What `why` prints about an object or a part of it.
struct Answer {
  std::string text;
  bool is_unknown_part = false;  // the object has no such part
};
Answer why(const kube::Object& object, const std::string& part, const control::View& view, Families of = families());

}  // namespace slipway::plane
