// metadata.managedFields as a list of rows: who (manager, operation, apiVersion, subresource) owns which fields, and since
// when. A row keeps its wire form until it changes, and a field set is decoded only when it is looked at, because most writes
// touch one row. An applier is known by manager and subresource, an updater by its apiVersion too.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "base/time.h"
#include "json/value.h"
#include "kube/apply.h"
#include "kube/field_set.h"

namespace slipway::kube {

enum class ManagedOperation { Apply, Update };

class ManagedFields {
 public:
  static constexpr std::size_t kNone = SIZE_MAX;
  /// Beyond this many updaters the oldest are joined, per apiVersion, under the name kAncientManager.
  static constexpr std::size_t kMaxUpdaters = 10;
  static constexpr std::string_view kAncientManager = "ancient-changes";
  /// Owns what an object without managedFields has when it is first applied to.
  static constexpr std::string_view kBeforeFirstApply = "before-first-apply";

  ManagedFields() = default;
  /// What encode() once gave; not checked.
  static ManagedFields stored(const json::Value& list);
  /// What a client sent. BadRequest when malformed. Rows that own nothing are left out.
  static Result<ManagedFields> decode(const json::Value& list);
  /// How a client asks to forget all owners: an empty list, or one empty entry.
  static bool is_reset(const json::Value& list);

  bool empty() const { return rows_.empty(); }
  std::size_t size() const { return rows_.size(); }
  /// kNone when there is no such row.
  std::size_t find(ManagedOperation operation, const Writer& writer) const;

  ManagedOperation operation(std::size_t at) const;
  std::string_view api_version(std::size_t at) const { return rows_[at].entry["apiVersion"].as_string(); }
  std::string_view manager(std::size_t at) const { return rows_[at].entry["manager"].as_string(); }
  /// `"kubectl" using apps/v1`, `"kubelet" with subresource "status" using v1`: how conflicts name it.
  std::string title(std::size_t at) const;
  const FieldSet& fields(std::size_t at) const;
  /// How `set` lies to the fields of the row, without decoding them.
  Overlap overlap(std::size_t at, const FieldSet& set) const;
  /// Whether the row owns exactly `set`.
  bool owns_exactly(std::size_t at, const FieldSet& set) const;

  void set_fields(std::size_t at, FieldSet fields);
  void set_time(std::size_t at, Time time);
  /// A row for `writer`, or its row with new fields, apiVersion and time.
  void put(ManagedOperation operation, const Writer& writer, FieldSet fields, Time time);
  void cap_updaters();
  /// Rows that own something, sorted by operation, time, manager, apiVersion and subresource. The list it was made of when
  /// nothing changed; null when there are no rows.
  json::Value encode() const;

 private:
  struct Row {
    json::Value entry;
    mutable std::optional<FieldSet> fields{};  // decoded, or newer than `entry`
    bool is_changed = false;                   // `entry` lacks the newest fields
  };

  json::Value source_;
  std::vector<Row> rows_;
};

}  // namespace slipway::kube
