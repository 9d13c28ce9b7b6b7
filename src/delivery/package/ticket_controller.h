// Controller "package-tickets", one key per revision: a gate that names its owner, a person or a group, is told to whatever
// takes tickets, once the content has been still for a minute. Where tickets go is said on the Repository: the annotation
// packages.slipway.dev/tickets is a URL, or "secret:NAME", a Secret whose key `address` holds one. The message is that of a
// notifier of type webhook (delivery/probe/notify.h); the gate's condition then is Unknown with reason TicketSent, which is
// recorded after the POST: after a crash between the two it is sent again. No owner's True or False is touched, and a content
// that changed sends it anew. The message names the command that answers it and, where a Secret signs answers, the link
// (ticket_answer.h).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/wall_steps.h"
#include "control/controller.h"
#include "delivery/family.h"
#include "delivery/package/author.h"
#include "delivery/package/record_index.h"
#include "delivery/probe/notify.h"

namespace slipway::delivery::package {

inline constexpr Duration kTicketRest = std::chrono::minutes{1};
/// On a Repository: where it is told that a gate waits for its owner, a URL or "secret:NAME".
inline constexpr std::string_view kTickets = "packages.slipway.dev/tickets";
inline constexpr std::string_view kTicketSent = "TicketSent";

/// The gates of an unpublished revision that wait for their owner to be told.
std::vector<ReadinessGate> untold_gates(const RevisionRecord& record);
/// Where the tickets of a repository go; nullopt: nowhere.
std::optional<probe::Notifier> tickets_of(const kube::Object& repository);

class TicketController : public control::Controller {
 public:
  TicketController(const ControllerContext& context, std::shared_ptr<RecordIndex> records);

  std::string name() const override { return "package-tickets"; }
  void watch(control::Watches& watches) override;
  Task<control::Outcome> reconcile(control::Reconcile& run) override;

 private:
  Task<Result<void>> tell(control::Reconcile& run, RecordIndex::Known known, probe::Notifier notifier, probe::Notice notice,
                          ReadinessGate gate, Author author);

  Env& env_;
  HttpClient* http_;
  ActsAs acts_as_;
  std::shared_ptr<RecordIndex> records_;
  control::Informer* repositories_ = nullptr;
  WallSteps wall_;
};

}  // namespace slipway::delivery::package
