// Edits of many members at once, each in one pass over the object: Value::with copies the whole object for each new member, so
// that a loop of it over what a user wrote costs the square of its length.
#pragma once

#include "json/value.h"

namespace slipway::json {

/// `base` with the members of `more`, which replace its own. Whatever is no object counts as an empty one.
inline Value with_members(const Value& base, const Value& more) {
  ObjectBuilder all(base);
  for (const auto& [key, value] : more.members()) all.set(key, value);
  return all.build();
}

/// The members for which `is_kept(key)` holds.
template <class Predicate>
Value members_where(const Value& object, Predicate is_kept) {
  ObjectBuilder kept;
  for (const auto& [key, value] : object.members()) {
    if (is_kept(key)) kept.add(key, value);
  }
  return kept.build();
}

/// The union of two sets of fields (fieldsV1): objects are merged, of other values the first stays.
inline Value field_union(const Value& one, const Value& other) {
  ObjectBuilder all(one);
  for (const auto& [key, member] : other.members()) {
    const Value* own = one.find(key);
    all.set(key, own == nullptr ? member : field_union(*own, member));
  }
  return all.build();
}

}  // namespace slipway::json
