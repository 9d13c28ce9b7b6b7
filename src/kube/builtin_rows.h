// The built-in kinds as a table of facts: names, scope, what the server does with status, generation and scale, printer columns
// and selectable fields (Kubernetes 1.33). kube/builtin.h makes ResourceTypes of it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace slipway::kube {

/// What holds for a kind, as bits of BuiltinRow::traits.
enum BuiltinTrait : std::uint8_t {
  kClusterScoped = 1,
  kHasStatus = 2,          // a status subresource
  kCountsGeneration = 4,   // metadata.generation moves with the content
  kNoBlindUpdate = 8,      // PUT needs a resourceVersion
  kShownWhenDeleted = 16,  // DELETE answers with the object
};

struct BuiltinRow {
  std::string_view group;
  std::string_view version;
  std::string_view plural;
  std::string_view kind;
  std::string_view schema;  // a type of builtin_schema.inc
  unsigned traits = 0;
  std::string_view short_names{};  // separated by blanks, as the other lists
  std::string_view categories{};
  /// "Name=@name; #Ready=.status.ready; |IP=.status.ip": '|' is shown by -o wide only, '#' is an integer, '?' a boolean; the
  /// rest is a JSONPath or a function of kube/table.h.
  std::string_view columns{};
  std::string_view selectable_fields{};  // beyond metadata.name and metadata.namespace
  std::string_view scale{};              // spec replicas, status replicas, and a label selector as text or nothing
};

/// In order of group, version and plural as discovery has them.
std::span<const BuiltinRow> builtin_rows();
/// Whether a DELETE of that kind answers with the last state of the object instead of a Status.
bool is_shown_when_deleted(std::string_view group, std::string_view kind);

}  // namespace slipway::kube
