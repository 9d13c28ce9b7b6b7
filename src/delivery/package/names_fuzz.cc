// Names, references, messages of commits and Kptfiles come from people and repositories: whatever they hold, what is read is
// consistent with what would be written.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "delivery/package/digest.h"
#include "delivery/package/names.h"

namespace {

using namespace slipway::delivery::package;

void check_reference(std::string_view text) {
  const PackageRef ref = read_ref(text, "main", "infra");
  if (ref.kind == RefKind::Other || ref.kind == RefKind::Branch) return;
  const bool is_tag = ref.kind == RefKind::Tag;
  const Lifecycle lifecycle = is_tag                          ? Lifecycle::Published
                              : ref.kind == RefKind::Draft    ? Lifecycle::Draft
                              : ref.kind == RefKind::Proposed ? Lifecycle::Proposed
                                                              : Lifecycle::DeletionProposed;
  const RevisionKey key{.package = {.repository = "r", .path = ref.path}, .workspace = ref.workspace};
  SLIPWAY_CHECK(ref_of(key, ref.revision, lifecycle, "infra") == text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto key = parse_revision_name(text)) SLIPWAY_CHECK(key->object_name() == text);
  check_reference(text);
  for (const CommitNote& note : notes_of(text)) SLIPWAY_CHECK(notes_of(with_note("m", note)).size() == 1);
  const std::string once = without_status(text);
  SLIPWAY_CHECK(without_status(once) == once);
  const std::size_t half = size / 2;
  (void)matches_pattern(text.substr(0, std::min<std::size_t>(half, 256)), text.substr(half, 256));
  return 0;
}
