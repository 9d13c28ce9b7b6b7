// The verbs behind Server: reading, watching, and one path for every write. A write is first planned, in one go without
// suspending, against head state (Planner); the plan is then appended, so optimistic concurrency is exact without locks or
// retries: what the plan was based on is what it is appended to.
#pragma once

#include <memory>

#include "server/context.h"
#include "server/crd.h"
#include "server/endpoint.h"
#include "server/field_index.h"
#include "server/planner.h"

namespace slipway::server {

class Verbs {
 public:
  Verbs(Env& env, store::Store& store, const Options& options, Registry& registry, client::Client& server)
      : access_(env, store, options.access),
        definitions_(store, registry),
        context_{env, store, options, registry, access_, server},
        fields_(env, store) {}

  /// Creates what every cluster has where it is missing.
  Task<Result<void>> begin();
  Task<Result<Reply>> call(Request request);
  Task<Result<std::unique_ptr<client::Watch>>> watch(Request request);
  Task<Result<ListReply>> list(Request request);
  /// Waits until the newest state is at least `revision`: at most 3 s, then 504.
  Task<Result<void>> reach(Revision revision);
  Access& access() { return access_; }

 private:
  /// Whether the request's user may do that; null may do all.
  Result<void> authorize(const Request& request);
  Task<Result<Reply>> answer(const Endpoint& endpoint, Request request);
  Task<Result<Reply>> dispatch(Request request, ServedPtr served);
  // Of kinds that functions answer: answered.cc.
  Task<Result<Reply>> ask(Request request, ServedPtr served);
  Task<Result<ListReply>> ask_list(Request request, ServedPtr served);
  Task<Result<Reply>> get(Request request, ServedPtr served);
  Task<Result<Reply>> whole_list(Request request, ServedPtr served);
  Task<Result<ListReply>> read_list(Request request, ServedPtr served);
  Task<Result<Reply>> write(Request request, ServedPtr served);
  Task<Result<Reply>> carry_out(Request request, ServedPtr served, Result<Plan> plan, Revision based_on);
  Task<Result<Reply>> delete_collection(Request request, ServedPtr served);
  /// Waits until what an answer was based on is durable, so that nothing is told that a failing disk may take back.
  Task<Result<void>> settle(Revision based_on);

  Access access_;
  DefinitionProjection definitions_;
  ServerContext context_;
  FieldIndexes fields_;
};

}  // namespace slipway::server
