// The log of a pipeline as a chain of segments, pure. An entry's hash covers its text and the hash before it, the first one the
// pipeline's uid, so that a changed, removed or inserted entry is found; what verify() cannot see is that the newest entries
// were cut off, or that a user with the right to write segments made the whole chain again: keep its last hash elsewhere. A
// segment is a DeliveryLog of at most kMostSegmentBytes that no object owns: it outlives its pipeline, and a new pipeline of
// the same name begins a chain of its own. Old segments go as a whole, by age.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "delivery/pipeline/own_kinds.h"
#include "kube/object.h"

namespace slipway::delivery::pipeline {

/// Of a whole DeliveryLog object; its spec gets 4 KiB less.
inline constexpr std::size_t kMostSegmentBytes = std::size_t{64} << 10;
/// Of an entry's `text`; what is longer is cut.
inline constexpr std::size_t kMostEntryTextBytes = 512;
inline constexpr Duration kKeepHistory = std::chrono::days{400};
/// On a Pipeline: how long its history is kept, "30d". Segments carry a copy for when the pipeline is gone.
inline constexpr std::string_view kKeepAnnotation = "pipelines.slipway.dev/keep-history";
/// On segments: the pipeline's uid. Its name is there as the annotation kPipelineLabel, and as the label where it fits one.
inline constexpr std::string_view kUidAnnotation = "pipelines.slipway.dev/pipeline-uid";

/// "30d", "2w", or a duration as Go writes it; above 0. BadRequest otherwise.
Result<Duration> parse_days(std::string_view text);
/// The annotation's, else kKeepHistory; what cannot be read counts as absent.
Duration keep_of(const kube::Object& object);

/// "podinfo-1b2c3d4e-0": the first eight characters of the uid.
std::string segment_name(std::string_view pipeline, std::string_view uid, std::int64_t number);

struct Segment {
  kube::Object object{};  // as it is stored; null: not yet
  DeliveryLogSpec spec{};
};

/// The log of one pipeline, told apart by its uid.
struct Chain {
  std::string ns;
  std::string pipeline;
  std::string uid;
  std::vector<Segment> segments;  // by number

  const DeliveryEntry* last() const;
};

/// The chains of a name among DeliveryLog objects of a namespace; the one with the newest entry last. Objects that cannot be
/// read are left out, and verify() then finds the gap.
std::vector<Chain> chains_of(const std::vector<kube::Object>& objects, std::string_view ns, std::string_view pipeline);

/// SHA-256 over `before`, a line end and the entry's JSON text without its hash. `before` of a first entry is the pipeline's
/// uid.
std::string hash_of(const DeliveryEntry& entry, std::string_view before);

/// Puts entries at the end, chained; those with a key that the chain has are left out. Gives the indexes of segments that are
/// new or changed, in the order in which they must be written.
std::vector<std::size_t> append(Chain& chain, std::vector<DeliveryEntry> entries);

/// The object to create or, when the segment has one, to update. `keep` is the annotation of a new one; empty: none.
kube::Object object_of(const Segment& segment, std::string_view ns, std::string_view keep);

struct Verified {
  std::size_t entries = 0;
  std::string last_hash{};
  std::int64_t first_segment = 0;  // above 0: older ones were pruned, and the chain is taken from there
  std::string fault{};             // "entry 3 of podinfo-1b2c3d4e-0 (observed 1.2.0) is not what was written"; empty: whole

  bool is_whole() const { return fault.empty(); }
};
Verified verify(const Chain& chain);

/// What pruning asks of a segment.
struct SegmentAge {
  std::string name{};
  std::string uid{};  // of the object
  Time youngest{};    // entry; Time::min() when it has none
};
SegmentAge age_of(const Segment& segment);

/// Segments whose youngest entry is older than `keep`, out of all of a chain by number; of a live pipeline never the last one.
/// Also when the next is due.
struct Outdated {
  std::vector<SegmentAge> segments{};
  std::optional<Time> next{};
};
enum class PipelineIs : std::uint8_t { There, Gone };
Outdated outdated(const std::vector<SegmentAge>& segments, PipelineIs pipeline, Duration keep, Time now);

}  // namespace slipway::delivery::pipeline
