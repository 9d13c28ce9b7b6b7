// What people say about a proposal, for ApprovalPolicies that ask them: approve or reject, about the content that they had
// seen. It is said with a PUT or PATCH of packagerevisions/NAME/votes, which is a right of its own: who may vote need not be
// able to approve.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "delivery/gate/approval.h"
#include "json/codec.h"

namespace slipway::delivery::package {

/// What a person said about a content.
struct Vote {
  std::string digest{};
  gate::Approval::Decision decision = gate::Approval::Decision::Approve;
  std::string comment{};
  std::string user{};  // stamped by the server, as are groups and time
  std::vector<std::string> groups{};
  std::optional<Time> at{};

  static void describe(auto& d) {
    d.doc("What a person said about a content.");
    d.field("digest", &Vote::digest, "The content.").required();
    d.field("decision", &Vote::decision, "approve or reject.").required();
    d.field("comment", &Vote::comment, "Why.").max_length(256);
    d.field("user", &Vote::user, "Who; set by the server.");
    d.field("groups", &Vote::groups, "The user's groups; set by the server.").list_type("atomic");
    d.field("time", &Vote::at, "When; set by the server.");
  }
  bool operator==(const Vote&) const = default;
};

}  // namespace slipway::delivery::package
