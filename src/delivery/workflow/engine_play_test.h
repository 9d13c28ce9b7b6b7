// A run of the engine on definitions written inline, pass after pass in virtual time.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "base/manual_env.h"
#include "delivery/workflow/engine.h"
#include "json/text.h"

namespace slipway::delivery::workflow {

/// Runs steps written as YAML with templates written inline, pass after pass in virtual time.
class EnginePlay : public testing::Test {
 protected:
  EnginePlay() {
    providers.add(control_providers());
    providers.add({
        {.package = "test", .function = "fail", .params = {}, .run = [this](ProviderCall) { return fails(); }},
        {.package = "test",
         .function = "count",
         .params = {"by"},
         .run = [this](ProviderCall call) { return counts(call.params); }},
        {.package = "test", .function = "slow", .params = {}, .run = [this](ProviderCall call) { return slow(call.path); }},
        {.package = "test",
         .function = "once",
         .params = {},
         .run = [this](ProviderCall) { return once(); },
         .is_once = [](const Value&) { return true; }},
    });
    define("ok", "output: {x: parameter.x}\nparameter: {x: *1 | int}");
    define("wait", "import \"vela/op\"\nw: op.#ConditionalWait & {continue: context.goes, message: \"not yet\"}");
    define("suspend",
           "import \"vela/op\"\nparameter: {duration?: string, message?: string}\nsuspend: op.#Suspend & {parameter}");
    define("break", "import \"vela/builtin\"\nb: builtin.#Break & {$params: message: \"enough\"}");
    define("fail", "import \"vela/builtin\"\nf: builtin.#Fail & {$params: message: \"no good\"}");
    define("message", "import \"vela/builtin\"\nparameter: {message: string}\nm: builtin.#Message & {$params: parameter}");
    define("error", "e: {#do: \"fail\", #provider: \"test\"}");
    define("slow", "s: {#do: \"slow\", #provider: \"test\"}");
    define("once",
           "import \"vela/op\"\no: {#do: \"once\", #provider: \"test\", $returns?: {...}}\n"
           "w: op.#ConditionalWait & {continue: context.goes}");
  }
  ~EnginePlay() override { env.drop_all(); }

  void define(const std::string& type, const std::string& text) {
    auto made = templates.compile(type, text);
    ASSERT_TRUE(made) << made.error().message;
    definitions[type] = *made;
  }

  Task<Answer> fails() {
    ++errors;
    co_return errors > errors_wanted ? Answer::done() : Answer::error("it broke");
  }
  Task<Answer> counts(Value params) {
    counted += params["by"].as_int();
    co_return Answer::done(json::object({{"total", counted}}));
  }
  Task<Answer> once() {
    ++effects;
    co_return Answer::done(json::object({{"n", effects}}));
  }
  Task<Answer> slow(std::string path) {
    ++running;
    most_running = std::max(most_running, running);
    co_await sleep_for(env, std::chrono::seconds{5});
    --running;
    co_return Answer::done();
  }

  Steps steps_of(const std::string& text, const std::string& mode = "") {
    auto list = json::parse_yaml(text);
    EXPECT_TRUE(list) << text;
    auto read = read_steps(list.value_or(Value()), mode.empty() ? Value() : *json::parse_yaml(mode), "steps");
    EXPECT_TRUE(read) << (read ? "" : read.error().message);
    return read.value_or(Steps{});
  }

  Pass pass(const Steps& steps) {
    const workflow::Run run{
        .setting = {.env = env,
                    .http = nullptr,
                    .on = nullptr,
                    .manager = "slipway-workflow",
                    .owner = json::object({{"metadata", json::object({{"name", "app"}, {"namespace", "shop"}, {"uid", "u"}})}}),
                    .labels = Value::empty_object(),
                    .context = json::object({{"name", "app"}, {"goes", goes}})},
        .steps = steps,
        .providers = providers,
        .definition = [this](std::string type) { return find(std::move(type)); },
        .options = options};
    Pass made = env.run(run_pass(run, status, store));
    status = made.status;
    store = made.store;
    return made;
  }
  Task<Result<StepDefinition>> find(std::string type) {
    const auto found = definitions.find(type);
    if (found == definitions.end()) co_return fail(Reason::NotFound, "no definition " + type);
    co_return StepDefinition{found->second};
  }

  /// Passes until the run ends or nothing is due within an hour; the number of passes.
  int run(const Steps& steps, int most = 100) {
    for (int n = 1; n <= most; ++n) {
      const Pass made = pass(steps);
      if (made.status.is_finished || !made.again) return n;
      env.advance(*made.again);
    }
    return most + 1;
  }

  /// "a:succeeded b:failed/Action", sub-steps in parentheses.
  std::string shown() const {
    std::string text;
    for (const StepStatus& step : status.steps) {
      text += fmt::format("{}{}", text.empty() ? "" : " ", shown(step));
      if (step.sub_steps.empty()) continue;
      std::string subs;
      for (const SubStepStatus& sub : step.sub_steps) subs += fmt::format("{}{}", subs.empty() ? "" : " ", shown(sub));
      text += "(" + subs + ")";
    }
    return text;
  }
  static std::string shown(const SubStepStatus& step) {
    return fmt::format("{}:{}{}{}", step.name, step.phase, step.reason.empty() ? "" : "/", step.reason);
  }
  std::string message(std::string_view step) const {
    const SubStepStatus* found = status.find(step);
    return found == nullptr ? "(none)" : found->message;
  }

  ManualEnv env;
  Templates templates;
  Providers providers;
  std::map<std::string, TemplatePtr> definitions;
  EngineOptions options;
  RunStatus status;
  RunStore store;
  bool goes = false;
  int errors = 0;
  int errors_wanted = 1'000;
  int effects = 0;
  std::int64_t counted = 0;
  int running = 0;
  int most_running = 0;
};

}  // namespace slipway::delivery::workflow
