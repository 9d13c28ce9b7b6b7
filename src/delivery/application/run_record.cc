#include "delivery/application/run_record.h"

#include "control/object_writes.h"
#include "delivery/application/kind.h"

namespace slipway::delivery::application {

Value revision_status(const kube::Object& revision, const workflow::RunStatus& run) {
  const Value& told = revision["status"];
  const bool has_succeeded = run.phase == workflow::kSucceeded;
  const Value copy = json::encode(run);
  const bool is_told = told["workflow"]["startTime"] == copy["startTime"] && told["workflow"]["status"] == copy["status"];
  if (is_told && (told["succeeded"].as_bool() || !has_succeeded)) return {};
  const Value status = told.is_object() ? told : Value::empty_object();
  return status.with("succeeded", has_succeeded || told["succeeded"].as_bool()).with("workflow", copy);
}

Task<Result<void>> note_run(client::Client& client, kube::Object revision, workflow::RunStatus run) {
  const Value status = revision_status(revision, run);
  if (status.is_null()) co_return Result<void>{};
  auto written = co_await control::write_status(client, kRevisions, revision, status, kManager);
  const bool is_late = !written && (written.error().reason == Reason::Conflict || written.error().reason == Reason::NotFound);
  if (!written && !is_late) co_return fail(std::move(written).error());
  co_return Result<void>{};
}

}  // namespace slipway::delivery::application
