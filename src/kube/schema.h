// Structural schemas (apiextensions.k8s.io/v1): one compiled tree serves pruning, defaulting, validation and the list and map
// types of server-side apply, for custom resources and built-in kinds alike. Immutable.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "json/value.h"

namespace slipway::kube {

struct SchemaNode;  // the compiled tree; see schema_node.h

/// Fields that pruning tells of; what is dropped beyond is not told.
inline constexpr std::size_t kMostDroppedFields = 100;
/// No more are told once their paths have this many bytes.
inline constexpr std::size_t kMostDroppedBytes = std::size_t{64} << 10;
/// Text that defaulting adds to one object: no object that may be stored is larger.
inline constexpr std::size_t kMostDefaultBytes = std::size_t{3} << 19;

/// Whether pruning leaves out the zero values that are not stored. An applied configuration owns the ones it names.
enum class Zeros { Omitted, Kept };

class Schema {
 public:
  /// From an openAPIV3Schema of a CRD, whose place in the CRD is `path`. Invalid with causes when it is not structural, a
  /// pattern is no RE2, or a default does not fit. apiVersion, kind and metadata are understood, whether declared or not.
  static Result<std::shared_ptr<const Schema>> compile(const json::Value& open_api,
                                                       std::string path = "spec.validation.openAPIV3Schema");
  /// One that compiled before and was stored since: compiled when it is first used, from any thread. Should it compile no more
  /// (another version of this program judged it), it lets everything through.
  static std::shared_ptr<const Schema> deferred(json::Value open_api);
  explicit Schema(std::shared_ptr<const SchemaNode> root);
  ~Schema();

  /// Drops fields the schema does not know, those of metadata included. `dropped` (may be null) gets their paths, sorted, as
  /// for "unknown field" warnings, as many as the limits let through. Metadata and built-in kinds come in their stored form
  /// (kube/stored_form.h): times and quantities canonical, zero values of omitempty fields gone, without a warning. What
  /// does not change stays shared with `object`.
  json::Value prune(const json::Value& object, std::vector<std::string>* dropped = nullptr, Zeros zeros = Zeros::Omitted) const;
  /// Fills defaults top-down. A null counts as absent where the field is not nullable: it becomes the default, or goes. Every
  /// place shares the one value of its default, so the work grows with the object and not with what it would be as text. Beyond
  /// kMostDefaultBytes of text nothing more is added: such an object is too large to be stored.
  json::Value fill_defaults(const json::Value& object) const;
  /// Every violation, worded as upstream. `old` (may be null) is for ratcheting: what did not change is tolerated.
  /// DIVERGES: a wrong type in metadata or in a built-in kind is Invalid like any other, not BadRequest with Go's decoding
  /// error.
  std::vector<Cause> validate(const json::Value& object, const json::Value* old = nullptr) const;

  const SchemaNode& root() const { return *node(); }

 private:
  struct Deferred;

  /// Null where nothing is declared.
  const SchemaNode* node() const;

  std::unique_ptr<Deferred> deferred_;  // null: root_ is there
  mutable std::shared_ptr<const SchemaNode> root_;
};

}  // namespace slipway::kube
