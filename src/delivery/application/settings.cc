#include "delivery/application/settings.h"

#include <fmt/format.h>

#include <charconv>

#include "base/time.h"
#include "kube/names.h"

namespace slipway::delivery::application {
namespace {

constexpr const char* kWait = "max-workflow-wait-backoff-time";
constexpr const char* kRetries = "max-workflow-step-error-retry-times";
constexpr const char* kSuspends = "suspend-on-failure";
constexpr const char* kParallel = "step-parallelism";
constexpr const char* kDeadline = "progress-deadline";
constexpr const char* kApplyMode = "apply-mode";
constexpr const char* kSharedNamespace = "definition-namespace";

using Options = std::map<std::string, std::string>;

/// Absent and empty: `value` stays.
Result<void> read_number(const Options& options, const char* name, std::int64_t least, std::int64_t& value) {
  const auto given = options.find(name);
  if (given == options.end() || given->second.empty()) return {};
  const std::string& text = given->second;
  std::int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || number < least || number > 10'000) {
    return fail(Reason::BadRequest, fmt::format("--{}: \"{}\" is no whole number from {} to 10000", name, text, least));
  }
  value = number;
  return {};
}

Result<void> read_duration(const Options& options, const char* name, Duration least, Duration& value) {
  const auto given = options.find(name);
  if (given == options.end() || given->second.empty()) return {};
  const auto duration = parse_duration(given->second);
  if (!duration || *duration < least) {
    return fail(Reason::BadRequest,
                fmt::format("--{}: \"{}\" is no duration of at least {} s such as 90s or 10m", name, given->second,
                            std::chrono::duration_cast<std::chrono::seconds>(least).count()));
  }
  value = *duration;
  return {};
}

}  // namespace

CommandOption definition_namespace_option() {
  return {kSharedNamespace, "namespace of the definitions that all applications may use (default: vela-system)"};
}

std::vector<CommandOption> setting_options() {
  return {{kWait, "the longest pause between two looks at a waiting or failed workflow step (default: 60s)"},
          {kRetries, "how often a failed workflow step is tried again (default: 10)"},
          {kSuspends, "a workflow whose retries are used up is suspended, not ended; resuming it tries again", true},
          {kParallel, "steps of one workflow that run at a time (default: 16)"},
          {kDeadline, "a workflow that waits this long without a change is said not to progress; 0s: never (default: 10m)"},
          {kApplyMode,
           "how objects are changed: server-side (by field ownership; default) or three-way (KubeVela's merge with "
           "what was applied last)"},
          definition_namespace_option()};
}

Result<Settings> read_settings(const Options& options) {
  Settings settings;
  SLIPWAY_TRY_VOID(read_duration(options, kWait, std::chrono::seconds{1}, settings.engine.max_wait));
  SLIPWAY_TRY_VOID(read_number(options, kRetries, 0, settings.engine.max_failures));
  auto parallel = static_cast<std::int64_t>(settings.engine.parallel_steps);
  SLIPWAY_TRY_VOID(read_number(options, kParallel, 1, parallel));
  settings.engine.parallel_steps = static_cast<std::size_t>(parallel);
  SLIPWAY_TRY_VOID(read_duration(options, kDeadline, Duration{0}, settings.progress_deadline));
  const auto suspends = options.find(kSuspends);
  settings.engine.suspends_on_failure = suspends != options.end() && suspends->second == "true";
  const auto mode = options.find(kApplyMode);
  if (mode != options.end() && !mode->second.empty()) {
    if (mode->second != "server-side" && mode->second != "three-way") {
      return fail(Reason::BadRequest,
                  fmt::format("--{}: \"{}\" is neither server-side nor three-way", kApplyMode, mode->second));
    }
    settings.apply_mode = mode->second == "three-way" ? ApplyMode::ThreeWay : ApplyMode::ServerSide;
  }
  const auto ns = options.find(kSharedNamespace);
  if (ns != options.end() && !ns->second.empty()) {
    if (!kube::dns1123_label_faults(ns->second).empty()) {
      return fail(Reason::BadRequest, fmt::format("--{}: \"{}\" is no name of a namespace", kSharedNamespace, ns->second));
    }
    settings.definition_namespace = ns->second;
  }
  return settings;
}

}  // namespace slipway::delivery::application
