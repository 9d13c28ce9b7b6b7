// `slipway pipeline …`. Commands that look read Pipeline.status and the objects around it; those that change something create
// or delete one of the own kinds, so that the API server decides by the rights on that kind who may, and admission writes down
// who did. What they mean by an environment or a version is decided by choose.h.
#pragma once

#include <string>
#include <vector>

#include "delivery/family.h"
#include "delivery/pipeline/scene.h"

namespace slipway::delivery::pipeline {

/// All of them.
std::vector<Command> commands();

// Parts of them.
std::vector<Command> reading_commands();
std::vector<Command> comparing_commands();
std::vector<Command> changing_commands();
std::vector<Command> standstill_commands();
Command create_command();

/// What was given for an option, or "".
std::string option(const CommandCall& call, const std::string& name);
bool has_flag(const CommandCall& call, const std::string& name);
/// The lines of a repeated option, each split at commas; blanks around are cut off.
std::vector<std::string> listed(const CommandCall& call, const std::string& name);
/// BadRequest unless the option is absent or one of these.
Result<void> check_option(const CommandCall& call, const std::string& name, const std::vector<std::string>& allowed);

/// The one name that was given, as NAME or pipeline/NAME.
Result<std::string> pipeline_named(const CommandCall& call, const std::string& verb);
Task<Result<Scene>> read_scene(CommandCall call, std::string verb);
/// The same with the targets that the reader may not see hidden (reader_access.h).
Task<Result<Scene>> read_seen_scene(CommandCall call, std::string verb);

/// A command that changes something of what its one word names.
Command changing_row(std::string verb, std::string help, std::vector<CommandOption> options,
                     std::function<Task<Result<CommandAnswer>>(CommandCall call)> run);

inline constexpr const char* kManager = "slipway-pipeline-command";
/// As whom the process itself writes; an API server that knows who asks writes that over it.
Author local_author(const CommandCall& call);
kube::Object object_of(const kube::GroupVersionKind& kind, const std::string& ns, const std::string& name, json::Value spec);
/// " as ann": who is written in an object that was made.
std::string as_text(const kube::Object& made);

}  // namespace slipway::delivery::pipeline
