// What steers the step itself: vela/builtin.
#include <fmt/format.h>

#include "delivery/workflow/provider.h"
#include "delivery/workflow/variable_path.h"
#include "json/patch.h"
#include "json/text.h"

namespace slipway::delivery::workflow {
namespace {

Answer not_in_a_step() { return Answer::error("only steps of a workflow can do this"); }

Task<Answer> wait(ProviderCall call) {
  if (call.params["continue"].as_bool()) co_return Answer::done();
  co_return Answer::wait(call.params["message"].str());
}

Answer ended(Answer::Kind kind, const ProviderCall& call) { return {.kind = kind, .message = call.params["message"].str()}; }

Task<Answer> end_run(ProviderCall call) { co_return ended(Answer::Kind::Break, call); }
Task<Answer> fail_run(ProviderCall call) { co_return ended(Answer::Kind::Fail, call); }
Task<Answer> message(ProviderCall call) { co_return ended(Answer::Kind::Done, call); }

/// Notes of suspends that a user has resumed begin with this.
constexpr std::string_view kResumed = "resumed ";

/// Once per call: the note tells that it has suspended the step before. A step that is running again without having waited was
/// resumed; one that waits has not got here yet: the note was stored, and then the status was lost.
Task<Answer> suspend(ProviderCall call) {
  if (call.store == nullptr || call.status == nullptr) co_return not_in_a_step();
  const std::string key = fmt::format("{}.{}.suspendTimeStamp", call.step_id, call.path);
  std::string& told = call.store->notes[key];
  if (told.starts_with(kResumed)) co_return Answer::done();
  if (!told.empty() && call.status->phase == kRunning && call.status->reason != kReasonWait) {
    told = std::string(kResumed) + told;
    call.store->has_changed = true;
    co_return Answer::done();
  }
  const Time now = call.setting.env.clock.now();
  const Time since = told.empty() ? now : parse_rfc3339(told).value_or(now);
  if (told.empty()) {
    told = to_rfc3339(now);
    call.store->has_changed = true;
  }
  // DIVERGES: upstream ignores the message.
  Answer answer = ended(Answer::Kind::Suspend, call);
  if (answer.message.empty()) answer.message = "Suspended by field " + call.path.substr(call.path.rfind('.') + 1);
  if (const std::string duration = call.params["duration"].str(); !duration.empty()) {
    const auto parsed = parse_duration(duration);
    if (!parsed) co_return Answer::error(fmt::format("failed to parse duration {}: {}", duration, parsed.error().message));
    answer.since = since;
    answer.until = since + *parsed;
  }
  co_return answer;
}

Task<Answer> variable(ProviderCall call) {
  if (call.store == nullptr) co_return not_in_a_step();
  const std::string path = call.params["path"].str();
  if (call.params["method"].as_string() == "Put") {
    auto vars = put(call.store->vars, path, call.params["value"], true);
    if (!vars) co_return Answer::error(vars.error().message);
    call.store->vars = std::move(*vars);
    call.store->mark(path, call.is_secret);
    call.store->has_changed = true;
    co_return Answer::done();
  }
  const Value* value = look_up(call.store->vars, path);
  if (value == nullptr) co_return Answer::error(fmt::format("there is no variable {}", path));
  Answer answer = Answer::done(json::object({{"value", *value}}));
  answer.is_secret = call.store->is_secret(path);
  co_return answer;
}

void put_variable(const ProviderCall& call, const std::string& name, const Value& value) {
  call.store->vars = call.store->vars.with(name, value);
  call.store->mark(name, call.is_secret);
}

/// `value`, or without it the fields that are no parameters, as older templates write them: op.#Export & {secret: …}.
Value exported_value(const Value& params) {
  if (params.has("value")) return params["value"];
  Value fields = params;
  for (const char* own : {"type", "component"}) fields = fields.without(own);
  return fields.empty() ? Value() : fields;
}

/// A variable for other steps: each field of a struct under its own name, anything else under that of the call. What is to be
/// merged into a component is kept for those who apply it.
Task<Answer> export_value(ProviderCall call) {
  if (call.store == nullptr) co_return not_in_a_step();
  const Value value = exported_value(call.params);
  if (call.params["type"].as_string() == "patch") {
    const std::string component = call.params["component"].str();
    if (component.empty()) co_return Answer::error("component: a patch is of a component");
    const std::string key = std::string(kComponentPatch) + component;
    Value patch = value;
    if (const auto known = call.store->notes.find(key); known != call.store->notes.end()) {
      patch = json::apply_merge_patch(json::parse(known->second).value_or(Value()), value);
    }
    call.store->notes[key] = json::print(patch);
    if (call.is_secret) call.store->secret_notes.insert(key);
  } else if (value.is_object()) {
    for (const auto& [name, item] : value.members()) put_variable(call, std::string(name), item);
  } else {
    put_variable(call, call.path.substr(call.path.rfind('.') + 1), value);
  }
  call.store->has_changed = true;
  co_return Answer::done();
}

}  // namespace

std::vector<Provider> control_providers() {
  return {
      {.package = "builtin", .function = "wait", .params = {"continue", "message"}, .run = wait, .takes_incomplete = true},
      {.package = "builtin", .function = "suspend", .params = {"duration", "message"}, .run = suspend},
      {.package = "builtin", .function = "break", .params = {"message"}, .run = end_run},
      {.package = "builtin", .function = "fail", .params = {"message"}, .run = fail_run},
      {.package = "builtin", .function = "message", .params = {"message"}, .run = message},
      {.package = "builtin", .function = "var", .params = {"method", "path", "value"}, .run = variable},
      {.package = "builtin",
       .function = "export",
       .params = {"type", "component", "value"},
       .run = export_value,
       .takes_all = true},
  };
}

}  // namespace slipway::delivery::workflow
