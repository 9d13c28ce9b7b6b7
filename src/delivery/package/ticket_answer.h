// The way back of a ticket (ticket_controller.h): the system that took it answers with a signed call (delivery/probe/
// signed_call.h), and the gate's condition is what it says:
//
//   POST /tickets/NAMESPACE/REVISION   {"gate": "sec", "status": "True", "digest": "sha256:…", "message": "looked at it"}
//
// The key is `hmac-key` of the Secret that the Repository's annotation packages.slipway.dev/ticket-answers names, else of the
// one that packages.slipway.dev/tickets names as "secret:NAME". An answer counts while its ticket is open: the condition is
// Unknown with the reason TicketSent, and the content is the one that the ticket was about. So a call that is sent again finds
// no open ticket (Conflict). Owner of the condition is "hook:SECRET": that system speaks for the gate's owner.
#pragma once

#include <string>
#include <vector>

#include "client/served.h"
#include "delivery/package/record.h"
#include "json/codec.h"

namespace slipway::delivery::package {

/// On a Repository: name of the Secret whose `hmac-key` signs answers to tickets.
inline constexpr std::string_view kTicketAnswers = "packages.slipway.dev/ticket-answers";
/// On a Repository: address that this server's webhooks have for others, "https://slipway.example:6443"; tickets have links
/// below it.
inline constexpr std::string_view kAnswerAddress = "packages.slipway.dev/answer-address";

struct TicketAnswer {
  std::string gate{};
  Truth status = Truth::Unknown;
  std::string digest{};
  std::string message{};

  static void describe(auto& d) {
    d.doc("An answer to a ticket.");
    d.field("gate", &TicketAnswer::gate, "The gate that the ticket was about.").required().min_length(1).max_length(316);
    d.field("status", &TicketAnswer::status, "True or False.").required();
    d.field("digest", &TicketAnswer::digest, "The content that the ticket was about, as the ticket names it.").required();
    d.field("message", &TicketAnswer::message, "Why, and who says so.").max_length(1024);
  }
};
/// The record with the answer of the system that `secret` belongs to. Conflict: no such ticket is open.
Result<RevisionRecord> answered(RevisionRecord record, const TicketAnswer& answer, const std::string& secret, Time now);

/// Name of the Secret that signs answers; "" for none.
std::string answer_secret(const kube::Object& repository);
/// Where a ticket is answered: the path, below the Repository's address where it names one.
std::string answer_link(const kube::Object& repository, const kube::ObjectKey& revision);

std::vector<client::HttpPath> ticket_paths();

}  // namespace slipway::delivery::package
