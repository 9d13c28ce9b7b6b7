#include "delivery/application/events.h"

#include "base/digest.h"
#include "control/events.h"

namespace slipway::delivery::application {
namespace {

constexpr const char* kOfApplications = "Application";
constexpr const char* kOfRuns = "WorkflowRun";

struct Success {
  const char* reason;
  const char* message;
};
/// By Told.
constexpr Success kSuccesses[] = {
    {"Parsed", "Parsed successfully"},
    {"Revisioned", "Revisioned successfully"},
    {"PolicyGenerated", "Policy generated successfully"},
    {"Rendered", "Rendered successfully"},
    {"Applied", "Workflow finished"},
    {"Deployed", "Deployed successfully"},
};

/// A namespace that is being deleted takes no events, and an account may lack the right: what is delivered goes on.
Task<Result<void>> tell(Env& env, client::Client& client, kube::Object about, control::EventText text, std::string component) {
  auto told = co_await control::record_event(env, client, std::move(about), std::move(text), std::move(component));
  if (!told && told.error().reason != Reason::Forbidden) co_return fail(std::move(told).error());
  co_return Result<void>{};
}

}  // namespace

Task<Result<void>> tell_success(Env& env, client::Client& client, kube::Object application, Told what) {
  const Success& success = kSuccesses[static_cast<std::size_t>(what)];
  co_return co_await tell(env, client, std::move(application),
                          {.reason = success.reason, .message = success.message, .instance = "", .is_series = true},
                          kOfApplications);
}

Task<Result<void>> tell_failure(Env& env, client::Client& client, kube::Object application, std::string reason,
                                std::string message) {
  control::EventText text{
      .type = "Warning", .reason = std::move(reason), .message = message, .instance = name_hash(message), .is_series = true};
  co_return co_await tell(env, client, std::move(application), std::move(text), kOfApplications);
}

Task<Result<void>> tell_normal(Env& env, client::Client& client, kube::Object application, std::string reason,
                               std::string message) {
  control::EventText text{.reason = std::move(reason), .message = message, .instance = name_hash(message), .is_series = true};
  co_return co_await tell(env, client, std::move(application), std::move(text), kOfApplications);
}

Task<Result<void>> tell_of_run(Env& env, client::Client& client, kube::Object run, std::string reason, std::string message,
                               std::string instance) {
  const bool is_fault = reason == "Generate";
  control::EventText text{.type = is_fault ? "Warning" : "Normal",
                          .reason = std::move(reason),
                          .message = std::move(message),
                          .instance = std::move(instance),
                          .is_series = is_fault};
  co_return co_await tell(env, client, std::move(run), std::move(text), kOfRuns);
}

}  // namespace slipway::delivery::application
