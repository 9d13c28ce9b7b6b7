// Conditions and readiness gates as they stand in a PackageRevision: type, status, reason and message are Porch's, the other
// fields are ours and left out where nothing is known. A PUT without them leaves them as they are; conditions.h says what
// changes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "json/codec.h"

namespace slipway::delivery::package {

enum class Truth : std::uint8_t { True, False, Unknown };
inline auto describe_enum(Truth) {
  return json::enum_names<Truth>({{Truth::True, "True"}, {Truth::False, "False"}, {Truth::Unknown, "Unknown"}});
}

struct Condition {
  std::string type{};
  Truth status = Truth::Unknown;
  std::string reason{};
  std::string message{};
  std::string owner{};                     // who wrote it, authenticated
  std::optional<Time> since{};             // when its status last changed
  std::string digest{};                    // of the content it is about
  std::vector<std::string> scope{};        // files it depends on; empty: all
  std::string scope_digest{};              // of those files when it was written
  bool is_applied = false;                 // by server-side apply
  std::optional<std::int64_t> observed{};  // metadata.generation that it is about

  static void describe(auto& d) {
    d.doc("Something that must be so, or is known, about the content of a revision.");
    d.field("type", &Condition::type, "Which one.").required().min_length(1).max_length(316);
    d.field("status", &Condition::status, "True, False or Unknown.").required();
    d.field("reason", &Condition::reason, "Why, as one word.");
    d.field("message", &Condition::message, "Why, for people.");
    d.field("owner", &Condition::owner, "Who wrote it; set by the server.");
    d.field("lastTransitionTime", &Condition::since, "When its status last changed; set by the server.");
    d.field("observedGeneration", &Condition::observed,
            "The metadata.generation that it is about; where the writer leaves it out, that of the moment.");
    d.field("digest", &Condition::digest, "The content that it is about; set by the server.");
    d.field(
         "scope", &Condition::scope,
         "Patterns of the files that it depends on: it stays through changes of others. Absent: any change makes it Unknown.")
        .list_type("atomic");
    d.field("scopeDigest", &Condition::scope_digest, "Of those files, when it was written; set by the server.");
    d.field("applied", &Condition::is_applied, "Written by server-side apply; set by the server.");
  }
  bool operator==(const Condition&) const = default;
};

/// The step that a gate holds; without one it holds both.
enum class GateAt : std::uint8_t { Propose, Approve };
inline auto describe_enum(GateAt) {
  return json::enum_names<GateAt>({{GateAt::Propose, "propose"}, {GateAt::Approve, "approve"}});
}

struct ReadinessGate {
  std::string type{};
  std::vector<std::string> sources{};  // who added it, sorted
  std::string owner{};
  std::optional<GateAt> at{};

  static void describe(auto& d) {
    d.doc("A condition that must be True before the revision is proposed and before it is approved, or before one of the two.");
    d.field("conditionType", &ReadinessGate::type, "The condition.");
    d.field("sources", &ReadinessGate::sources,
            "Who asks for it: package, upstream, or a user, policy or commit author (git:EMAIL) by name. The gate is removed "
            "when none of them asks for it any more, or by who may approve. Set by the server.")
        .list_type("set");
    d.field("owner", &ReadinessGate::owner,
            "The user or group that alone may set the condition True; the gate is in their inbox. Absent: every writer may.");
    d.field("at", &ReadinessGate::at,
            "propose: asked before the revision is proposed. approve: asked before it is approved; such a gate may be added to "
            "a proposal. Absent: asked at both.");
  }
  bool operator==(const ReadinessGate&) const = default;
};

}  // namespace slipway::delivery::package
