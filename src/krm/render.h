// Rendering: the pipeline of a package and of its subpackages, deepest first, as `kpt fn render` runs it. Mutators change the
// resources that their selectors take, validators judge copies; a function sees its package and all below it, as already
// rendered. When one fails nothing is changed but Kptfile.status. A Render is a state machine without I/O: it runs built-in
// functions by itself and stops where a program is to be run, so that the caller may do that as it pleases.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "krm/function.h"
#include "krm/kptfile.h"
#include "krm/package.h"

namespace slipway::krm {

struct RenderOptions {
  /// Programs that Kptfiles name by `exec` may be run. A server says no.
  bool allows_exec = false;
  /// Why not, for who asked for one; the program's name is put behind it.
  std::string no_exec_text = "must run with `--allow-exec` option to allow running function binaries";
  /// Whether a program stands for an image that is not built in; empty: none does.
  std::function<std::optional<std::string>(const std::string& image)> program_for = {};
  /// The built-in function that an image which is none by its own name stands for; empty: none does.
  std::function<std::optional<std::string>(const std::string& image)> built_in_for = {};
  /// Writes the condition Rendered and renderStatus into the root Kptfile, as kpt does since 2026.
  bool writes_status = false;
  /// For messages; kpt shows the folder's name.
  std::string package_name = "package";
};

/// A program to be run with `input` on its standard input.
struct ProgramCall {
  std::string program;
  std::string image;  // empty for exec
  std::string input;
};
struct ProgramAnswer {
  int exit_code = 0;
  std::string output;
  std::string errors;  // its standard error
  std::chrono::milliseconds took{0};
};

struct RenderStep {
  std::string name;
  std::string image;
  std::string exec;
  std::string package;
  bool is_validator = false;
  int exit_code = 0;
  std::string error;   // why it could not be run
  std::string errors;  // standard error of a program
  std::vector<FunctionResult> results;
};

struct RenderOutcome {
  Result<Files> files;  // the package rendered, or why not
  Files unrendered;     // when that failed: the package as it was, with the status if that was asked for
  std::vector<RenderStep> steps;
  std::string log;  // what kpt prints while it renders
};

class Render {
 public:
  Render(Files files, RenderOptions options);
  /// Goes on until a program is needed, or to the end (nullopt).
  std::optional<ProgramCall> advance();
  /// REQUIRES: a call that has no answer yet.
  void answer(ProgramAnswer answer);
  /// REQUIRES: advance() gave nullopt.
  RenderOutcome finish() &&;

 private:
  struct Planned {
    KptFunction function;
    std::string package;
    std::size_t index = 0;
    bool is_validator = false;
    bool is_first = false;  // of its package
  };
  Result<void> load();
  Result<void> plan();
  Result<void> prepare(const Planned& planned);
  Result<FunctionRun> function_of(const std::string& image) const;
  Result<Resource> config_of(const Planned& planned) const;
  void take(ResourceList made);
  void place(Resource& resource, const std::vector<Resource>& others) const;
  void complete(Result<void> done, ResourceList list);
  void stop(Status status);
  static Result<void> check_kptfile(const Files& files);
  json::Value status_value() const;
  Files with_status(Files files) const;

  Files files_;
  RenderOptions options_;
  std::vector<Resource> resources_;
  std::vector<Planned> plan_;
  std::size_t next_ = 0;
  std::size_t next_id_ = 1;
  std::vector<std::size_t> selected_;  // ids given to the running function
  ResourceList input_;
  bool is_waiting_ = false;
  std::chrono::milliseconds took_{0};  // by the program that has just ended
  bool is_planned_ = false;            // the Kptfiles could be read: a failure from here on is told in the status
  std::optional<Status> failure_;
  std::size_t packages_ = 0;
  std::vector<RenderStep> steps_;
  std::string log_;
};

/// A render without programs.
RenderOutcome render(Files files, RenderOptions options = {});

/// One function over all resources of a folder, as `kpt fn eval`. Without a configuration an empty one is given.
struct Evaluation {
  Result<Files> files;
  std::vector<FunctionResult> results;
};
Evaluation evaluate(const Files& files, std::string_view image, std::optional<Resource> config);
/// The ConfigMap function-input with these data.
Resource config_map(const std::map<std::string, std::string>& data);

/// Whether a selector takes a resource.
bool is_selected(const KptSelector& selector, const Resource& resource);

/// Puts comments of `before` back where the same field has none now (kyaml's copy of comments), after a program that dropped
/// them.
void restore_comments(const Node& before, Node& after);
/// Brings members that `before` has into its order, new ones behind them (kyaml's order sync).
void restore_order(const Node& before, Node& after);

}  // namespace slipway::krm
