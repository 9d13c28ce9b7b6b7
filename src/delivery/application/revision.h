// ApplicationRevisions: what an application was made of at one time, numbered from 1 and never reused. A new one is made when
// the spec, a shared policy, the shared workflow or the publish version differs from the newest; definitions that changed since
// do not make one, and their frozen copies go on being used, unless the application asks for autoUpdate. Pure. Follows
// kubevela/kubevela pkg/controller/core.oam.dev/v1beta1/application/revision.go.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "delivery/application/definition_store.h"
#include "delivery/application/naming.h"
#include "delivery/application/parsed.h"

namespace slipway::delivery::application {

/// Sixteen hexadecimal digits over what makes a new revision, which plans of rollouts do not; with `with_definitions` over
/// definitions too.
std::string revision_hash(const kube::Object& application, const Value& spec, const Parsed& parsed, bool with_definitions,
                          PlanIn counts = PlanIn::None);
/// What a revision of this content may have been recorded as.
std::vector<std::string> known_hashes(const kube::Object& application, const Value& spec, const Parsed& parsed,
                                      bool with_definitions);

/// Whether two readings of an application found the same in the Policies and the Workflow that it shares with others.
bool shares_the_same(const Parsed& one, const Parsed& other);

/// Compresses contents of revisions. Most applications use the same definitions, whose part is compressed once: the result is
/// two gzip members, which every reader takes as one text (RFC 1952, 2.2). The first one's size is a multiple of three, so that
/// the base64 of the second is the same text in all of these revisions, and caches keep it once (client/object_packs.h).
class RevisionPacker {
 public:
  /// What a content holds beside the application.
  struct Rest {
    std::size_t text_bytes;
    std::string data;  // base64 of a gzip member
  };
  /// `make` gives it as a JSON object; called for a new key only.
  const Rest& rest(const std::string& key, const std::function<Value()>& make);
  /// Base64 of the whole: the members of `first` and then those of `rest`.
  static std::string join(const Value& first, const Rest& rest);

 private:
  std::map<std::string, Rest> known_;
};

/// The object to create. `number` from 1.
Value make_revision(const kube::Object& application, const Value& spec, const Parsed& parsed, std::int64_t number,
                    const std::string& hash, RevisionPacker& packer);
/// What a revision holds: its spec, unpacked when it is compressed (compressed.h). Null when it cannot be read.
Value revision_content(const Value& revision);
/// The ConfigMap with the rendered objects of a revision, and the Secret with those that are secret.
inline constexpr const char* kResourcesConfigMap = "resourcesConfigMap";
std::string revision_name(std::string_view application, std::int64_t number);
/// Whether the plans that components carry are part of the names of their revisions.
PlanIn plans_in_revision(const Value& revision);
/// The number in the name of a revision; 0: it has none.
std::int64_t number_of_revision(const Value& revision);

/// What a revision holds, with its definitions read: applications share those that are the same.
struct Frozen {
  Value spec;  // of the application
  std::map<DefinitionKind, std::map<std::string, Result<DefinitionPtr>>> definitions;
  Value policies;  // by name
  Value workflow;
  std::vector<DefinitionPtr> global_policies;
  Value referred;  // a list, or null
};
/// What a revision holds that was made of `spec` and `parsed`, without reading it.
std::shared_ptr<const Frozen> freeze(const Value& spec, const Parsed& parsed);
std::shared_ptr<const Frozen> read_revision(const Value& revision, DefinitionStore& store);
/// Looks names up in a revision first; what it does not hold in `otherwise`.
Lookup lookup_in(std::shared_ptr<const Frozen> frozen, Lookup otherwise);

}  // namespace slipway::delivery::application
