// What the commands `slipway fn` and `slipway pkg` do, as functions of files: no folder is read, no program is run here. The
// text for standard output, that for standard error and the exit code are what a caller prints and returns.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "krm/merge.h"
#include "krm/package.h"
#include "krm/render.h"

namespace slipway::krm {

struct CommandOutcome {
  int code = 0;
  std::string output;
  std::string errors;
  std::optional<Files> files;  // what the folder becomes; absent: nothing changes
};

/// A function over the wire: a ResourceList in, a ResourceList with results out, exit code 1 and the reason when it failed.
CommandOutcome fn_command(std::string_view name, std::string_view input);
/// The functions that are built in, one a line.
CommandOutcome list_functions();

/// A new package: Kptfile, package-context.yaml and README.md. AlreadyExists (exit 1) when there is a Kptfile.
CommandOutcome init_command(const Files& files, std::string_view name, std::string_view description);
/// A folder of a Git repository at one commit.
struct GitOrigin {
  std::string repo;
  std::string directory;  // "a/b", empty for the whole
  std::string ref;
  std::string commit;
};
/// The Kptfile of a package that was copied from there: its name, upstream and upstreamLock; all other bytes stay. An empty
/// text is a folder that was no package.
Result<std::string> with_origin(std::string_view kptfile, std::string_view name, const GitOrigin& origin,
                                std::string_view strategy);
/// `kpt pkg get`: the files of the folder with such a Kptfile and the marks of merge.h.
CommandOutcome get_command(Files files, std::string_view name, const GitOrigin& origin, std::string_view strategy);

/// Exit 1 and the punch list when a gate is not met; also of subpackages.
CommandOutcome ready_command(const Files& files);
/// What a finished render prints and leaves.
CommandOutcome render_command(RenderOutcome outcome);
CommandOutcome diff_command(const Files& before, const Files& after);
CommandOutcome upgrade_command(const Files& origin, const Files& upstream, const Files& local, std::string_view strategy);
/// `assignments`: "type=True", "type=False:Reason:message".
CommandOutcome condition_set_command(const Files& files, std::string_view assignment);
CommandOutcome condition_list_command(const Files& files);
enum class GateVerb : bool { Add, Remove };
CommandOutcome gate_command(const Files& files, GateVerb verb, std::string_view type);
/// Packages, folders and their resources, drawn as `kpt pkg tree` does.
CommandOutcome tree_command(const Files& files, std::string_view name);

}  // namespace slipway::krm
