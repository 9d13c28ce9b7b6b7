// What runs where: of one target (an application object in a cluster and namespace) the version that is asked for, the one that
// was tried last, the one that runs, and the images, with the state these add up to. Read from the Flux object, its sources and
// the objects it made, never from the Ready condition alone: Ready=True says neither that the spec was applied nor that pods
// are ready, and Ready=Unknown may be how a failure rests. A row per kind says how (kRows in values.cc). Pure: what a look
// cannot know alone, which images a release had when it was made, is carried in Memory from one look to the next.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "delivery/pipeline/image.h"
#include "json/codec.h"
#include "kube/object.h"

namespace slipway::delivery::pipeline {

enum class State : std::uint8_t {
  Settled,      // what is asked for runs, and its pods are ready
  Progressing,  // the agent or the workloads are at it, or wait for a dependency
  RolledBack,   // the agent gave up the version tried and runs an older one
  Failed,       // it stays as it is until a person acts
  Mixed,        // what is in the cluster is no version as a whole: parts of two, of a failed one, or edited by hand
  Suspended,
  Stale,  // the last look is too old to count
  Unreachable,
  Absent,
  Forbidden,  // the reader may not see it
};

inline auto describe_enum(State) {
  return json::enum_names<State>({{State::Settled, "settled"},
                                  {State::Progressing, "progressing"},
                                  {State::RolledBack, "rolled back"},
                                  {State::Failed, "failed"},
                                  {State::Mixed, "mixed"},
                                  {State::Suspended, "suspended"},
                                  {State::Stale, "stale"},
                                  {State::Unreachable, "unreachable"},
                                  {State::Absent, "absent"},
                                  {State::Forbidden, "forbidden"}});
}

struct Version {
  std::string text{};          // as the agent writes it; empty: none
  std::string digest{};        // "sha256:…", or what of it is known; empty: unknown
  std::optional<Time> time{};  // of the deployment where the object tells, else when it was first seen

  bool operator==(const Version&) const = default;
};

struct Values {
  Version specified{};
  Version attempted{};
  Version running{};
  std::string chart{};  // name of the chart that a release is of; empty: it is none
  std::vector<Image> images{};
  std::optional<Time> images_time{};
  /// The version that runs, released, its tests passed, unedited, with all pods ready; empty: none.
  std::string ready_at{};
  bool is_drifted = false;  // objects are not as they were released
  State state = State::Absent;
  std::string text{};  // why, when not settled

  bool operator==(const Values&) const = default;
};

enum class Access : std::uint8_t { Seen, Stale, Unreachable, Forbidden };

/// One moment of a target.
struct Look {
  Access access = Access::Seen;
  kube::Object object{};  // null: there is none
  /// The sources it refers to, and whatever may have been made by it; rows pick theirs.
  std::vector<kube::Object> others{};
  /// False: workloads are not in `others` (may not be listed); what runs is then what the agent says.
  bool has_workloads = true;
};

/// Which content a release had when the agent had made it.
struct Rendering {
  std::string release;
  std::string content;
  bool is_complete = false;  // seen after the agent was done; until then it may be partly applied

  bool operator==(const Rendering&) const = default;
};

/// Losing it loses only this: hand edits that happened before, and which of two revisions a failed Kustomization runs.
struct Memory {
  Values last{};
  std::string content{};                // what was in the cluster
  std::vector<Rendering> renderings{};  // newest last, at most kMostRenderings
};
inline constexpr std::size_t kMostRenderings = 10;

struct Reading {
  Values values;
  Memory memory;
};

/// Whether there is a row for the kind; versions of its API do not matter.
bool is_readable(std::string_view group, std::string_view kind);

/// `now` dates what is seen for the first time. An object of a kind without a row is read by its shape (kind_row.h), or not at
/// all: Absent, with a text.
Reading read(const Look& look, Memory memory, Time now);

}  // namespace slipway::delivery::pipeline
