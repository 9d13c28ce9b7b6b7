// What the functions that answer for package revisions share (client/served.h): who asks, turns of writers, and changes of a
// record that are tried again until they are appended.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "client/served.h"
#include "delivery/package/records.h"
#include "delivery/package/update.h"

namespace slipway::delivery::package {

/// The user, or the field manager of what the process itself writes.
Requester requester_of(const client::ServedContext& context, const client::Request& request);
inline kube::ObjectKey key_of(const client::Request& request) { return {request.ns, request.name}; }
inline Trial trial_of(const client::Request& request) { return request.dry_run ? Trial::Dry : Trial::No; }

/// Writers of one revision come one after the other, in the order of their coming: each sees what the one before has appended,
/// so that none has to be tried again for another. What else writes (the worker) is met by trying again.
class WriterTurns {
 public:
  class Turn {
   public:
    explicit Turn(Env& env) : called(env) {}
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    friend class WriterTurns;
    Signal called;
    WriterTurns* turns = nullptr;
    std::string subject{};
  };
  /// Waits for its turn about `subject`, which ends with the object. REQUIRES: this outlives it.
  Task<std::unique_ptr<Turn>> take(Env& env, std::string subject);

 private:
  std::map<std::string, std::deque<Turn*>> queues_;
};

/// What a request makes of a record as it is now.
struct Change {
  RevisionRecord record{};
  json::Value metadata{};  // labels, annotations and finalizers to store
};
using ChangeOf = std::function<Task<Result<Change>>(StoredRecord current)>;
/// Appends what `change` makes of the record, in turn, again with the newest one as often as others were faster.
Task<Result<StoredRecord>> change_record(client::ServedContext context, std::shared_ptr<WriterTurns> turns, kube::ObjectKey key,
                                         Trial trial, ChangeOf change);

/// What a merge patch or JSON patch makes of an object. UnsupportedMediaType for a strategic one, as the kinds have no
/// strategies.
Result<json::Value> patched(const client::Request& request, const json::Value& live);
/// Conflict when `sent` has another resourceVersion than the newest; without one it means that.
Result<void> check_version(const client::Request& request, const StoredRecord& current, const json::Value& sent);
/// Conflict for another uid, BadRequest for another name; what is not said is not looked at.
Result<void> check_identity(const client::Request& request, const StoredRecord& current, const json::Value& sent);

/// Whether the user may `update packagerevisions/approval` of that revision. The process itself may.
Task<Result<bool>> may_approve(client::ServedContext context, std::shared_ptr<const kube::UserInfo> user, kube::ObjectKey key);
/// Forbidden unless may_approve().
Task<Result<void>> require_approval_right(client::ServedContext context, std::shared_ptr<const kube::UserInfo> user,
                                          kube::ObjectKey key);

}  // namespace slipway::delivery::package
