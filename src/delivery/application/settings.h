// What is said on the command line about how applications are delivered, to `run`, `up` and `controller`.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "delivery/application/kind.h"
#include "delivery/family.h"
#include "delivery/workflow/engine.h"

namespace slipway::delivery::application {

/// How a manifest meets the object that is there: by the fields that each manager owns, or by what was applied last time, as
/// KubeVela does it.
enum class ApplyMode : std::uint8_t { ServerSide, ThreeWay };

struct Settings {
  workflow::EngineOptions engine;
  /// A workflow that waits this long without any change does not progress; zero: that is never told.
  Duration progress_deadline = std::chrono::minutes{10};
  ApplyMode apply_mode = ApplyMode::ServerSide;
  /// Where the definitions are that all applications may use.
  std::string definition_namespace = kDefinitionNamespace;
};

std::vector<CommandOption> setting_options();
/// One of them, which commands without controllers take, too.
CommandOption definition_namespace_option();
/// Errors: BadRequest, with the option and what it takes.
Result<Settings> read_settings(const std::map<std::string, std::string>& options);

}  // namespace slipway::delivery::application
