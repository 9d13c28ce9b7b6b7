#include "cli/package_command.h"

#include <fmt/format.h>
#include <sys/eventfd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>

#include "base/read_folder.h"
#include "cli/package_get.h"
#include "cli/session.h"
#include "cli/standard_input.h"
#include "krm/command.h"
#include "os/files.h"
#include "os/program_process.h"
#include "os/real_env.h"

namespace slipway::cli {
namespace {

using krm::CommandOutcome;

int print(const CommandOutcome& outcome) {
  std::fwrite(outcome.output.data(), 1, outcome.output.size(), stdout);
  std::fwrite(outcome.errors.data(), 1, outcome.errors.size(), stderr);
  return outcome.code;
}

int report_error(const std::string& message) {
  fmt::print(stderr, "error: {}\n", message);
  return 2;
}

// All files but those of .git.
Result<krm::Files> files_in(const std::string& folder) {
  os::RealEnv real;
  return read_folder(real.env().files, folder);
}

// Only what differs is written, each file in one step.
Result<void> write_folder(const std::string& folder, const krm::Files& before, const krm::Files& after) {
  os::RealEnv real;
  Env& env = real.env();
  for (const auto& [path, text] : after) {
    const auto old = before.find(path);
    if (old != before.end() && old->second == text) continue;
    const std::string target = folder + "/" + path;
    SLIPWAY_TRY_VOID(env.files.make_folders(target.substr(0, target.rfind('/'))));
    SLIPWAY_TRY_VOID(env.files.write(target, text, 0644));
  }
  for (const auto& [path, text] : before) {
    if (!after.contains(path)) SLIPWAY_TRY_VOID(env.files.remove_all(folder + "/" + path));
  }
  return {};
}

int finish(const std::string& folder, const krm::Files& before, const CommandOutcome& outcome) {
  if (outcome.files) {
    if (auto done = write_folder(folder, before, *outcome.files); !done) return report_error(done.error().message);
  }
  return print(outcome);
}

// The last part of the folder's path that is a name.
std::string name_of(const std::string& folder) {
  std::string path = absolute(folder);
  while (path.ends_with('/') || path.ends_with("/.")) path.pop_back();
  const std::string name = path.substr(path.rfind('/') + 1);
  return name.empty() || name == ".." ? "package" : name;
}

constexpr std::chrono::seconds kMostTime{60};

// A program of this machine with `input` on its standard input: in a sandbox that shows it the package's folder.
krm::ProgramAnswer run_program(const krm::ProgramCall& call, const std::string& folder) {
  // As kpt, words separated by blanks are arguments.
  std::vector<std::string> words;
  for (std::size_t at = 0; at < call.program.size();) {
    const std::size_t blank = std::min(call.program.find(' ', at), call.program.size());
    if (blank > at) words.push_back(call.program.substr(at, blank - at));
    at = blank + 1;
  }
  if (words.empty()) return {.exit_code = 1, .output = "", .errors = "exec: no program is named"};
  const std::string place = absolute(folder);
  if (words[0].contains('/') && !words[0].starts_with('/')) words[0] = place + "/" + words[0];
  const os::Descriptor stopping(eventfd(0, EFD_CLOEXEC));
  os::RealEnv real;
  const auto begun = real.env().clock.steady();
  const auto end = os::run_program({.name = words[0],
                                    .arguments = {words.begin() + 1, words.end()},
                                    .input = call.input,
                                    .sandbox = ProgramSandbox{.folder = place},
                                    .timeout = kMostTime,
                                    .max_output_bytes = std::size_t{256} << 20},
                                   stopping.get());
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(real.env().clock.steady() - begun);
  if (!end) return {.exit_code = 1, .output = "", .errors = end.error().message, .took = took};
  return {.exit_code = end->code, .output = end->output, .errors = end->error, .took = took};
}

int render(const std::string& folder, bool allows_exec, bool writes_status) {
  auto files = files_in(folder);
  if (!files) return report_error(files.error().message);
  krm::RenderOptions options;
  options.allows_exec = allows_exec;
  options.writes_status = writes_status;
  options.package_name = name_of(folder);
  krm::Render running(*files, options);
  while (auto call = running.advance()) running.answer(run_program(*call, folder));
  return finish(folder, *files, krm::render_command(std::move(running).finish()));
}

template <class Do>
int on_folder(const std::string& folder, Do action) {
  auto files = files_in(folder);
  if (!files) return report_error(files.error().message);
  return finish(folder, *files, action(*files));
}

struct PackageArguments {
  std::string folder = ".";
  std::string other;
  std::string origin;
  std::string upstream;
  std::string strategy;
  std::string what;
  std::string description = "sample description";
  bool allows_exec = false;
  bool writes_status = false;
};

void add_edits(CLI::App& app, PackageArguments& arguments, int& code) {
  CLI::App* condition = app.add_subcommand("condition", "conditions in Kptfile.status");
  condition->require_subcommand(1);
  CLI::App* set = condition->add_subcommand("set", "set one: TYPE=True, TYPE=False:Reason:message");
  set->add_option("folder", arguments.folder)->required();
  set->add_option("assignment", arguments.what)->required();
  set->callback([&] {
    code =
        on_folder(arguments.folder, [&](const krm::Files& files) { return krm::condition_set_command(files, arguments.what); });
  });
  CLI::App* list = condition->add_subcommand("list", "list them");
  list->add_option("folder", arguments.folder);
  list->callback([&] { code = on_folder(arguments.folder, krm::condition_list_command); });
  CLI::App* gate = app.add_subcommand("gate", "conditions that must be True before the package is ready");
  gate->require_subcommand(1);
  const std::pair<const char*, krm::GateVerb> kVerbs[] = {{"add", krm::GateVerb::Add}, {"remove", krm::GateVerb::Remove}};
  for (const auto& [name, verb] : kVerbs) {
    CLI::App* sub = gate->add_subcommand(name, fmt::format("{} one", name));
    sub->add_option("folder", arguments.folder)->required();
    sub->add_option("type", arguments.what)->required();
    sub->callback([&, which = verb] {
      code =
          on_folder(arguments.folder, [&](const krm::Files& files) { return krm::gate_command(files, which, arguments.what); });
    });
  }
}

void add_comparisons(CLI::App& app, PackageArguments& arguments, int& code) {
  CLI::App* diff = app.add_subcommand("diff", "show how two folders differ");
  diff->add_option("before", arguments.folder)->required();
  diff->add_option("after", arguments.other)->required();
  diff->callback([&] {
    auto after = files_in(arguments.other);
    code = !after ? report_error(after.error().message)
                  : on_folder(arguments.folder, [&](const krm::Files& before) { return krm::diff_command(before, *after); });
  });
  CLI::App* upgrade = app.add_subcommand("upgrade", "bring what changed between two versions of the upstream into a folder");
  upgrade->add_option("folder", arguments.folder)->required();
  upgrade->add_option("--from", arguments.origin, "folder of the upstream that the package was made from")->required();
  upgrade->add_option("--to", arguments.upstream, "folder of the new upstream")->required();
  upgrade->add_option("--strategy", arguments.strategy, "resource-merge, fast-forward, force-delete-replace or copy-merge");
  upgrade->callback([&] {
    auto origin = files_in(arguments.origin);
    auto upstream = files_in(arguments.upstream);
    if (!origin || !upstream) {
      code = report_error((origin ? upstream : origin).error().message);
      return;
    }
    code = on_folder(arguments.folder, [&](const krm::Files& local) {
      return krm::upgrade_command(*origin, *upstream, local, arguments.strategy);
    });
  });
}

}  // namespace

int fn_command(const std::vector<std::string>& arguments) {
  if (arguments.size() != 1 || arguments.front() == "--help" || arguments.front() == "-h") {
    fmt::print(
        "usage: slipway fn NAME    reads a ResourceList from standard input, writes it changed; `slipway fn list` names the "
        "functions\n");
    return arguments.size() == 1 ? 0 : 2;
  }
  if (arguments.front() == "list") return print(krm::list_functions());
  return print(krm::fn_command(arguments.front(), standard_input()));
}

bool is_for_folders(const std::vector<std::string>& words) {
  const std::string verb = words.empty() ? "" : words[0];
  const auto has = [&](std::string_view name) {
    return std::ranges::any_of(
        words, [&](const std::string& word) { return word == name || word.starts_with(std::string(name) + "="); });
  };
  if (verb == "render" || verb == "tree") return true;
  if (verb == "get") return words.size() > 1 && is_address(words[1]);
  if (verb == "init") return !has("--repository") && !has("--workspace");
  if (verb == "upgrade") return has("--from");
  const std::size_t at = verb == "condition" || verb == "gate" ? 2 : 1;
  if (at == 1 && verb != "ready" && verb != "diff") return false;
  if (words.size() <= at) return verb == "ready" || verb == "condition";
  const std::string& first = words[at];
  if (first == "." || first == ".." || first.starts_with("./") || first.starts_with("../") || first.starts_with('/'))
    return true;
  if (first.starts_with('-') || first.starts_with("packagerevision")) return false;
  os::RealEnv real;
  return real.env().files.list(first).has_value();
}

int pkg_command(const std::vector<std::string>& words) {
  CLI::App app{"Packages of configuration in folders of this machine."};
  app.name("slipway pkg");
  app.require_subcommand(1);
  PackageArguments arguments;
  int code = 2;
  CLI::App* init = app.add_subcommand("init", "make a folder a package");
  init->add_option("folder", arguments.folder);
  init->add_option("--description", arguments.description, "what the package is for");
  init->callback([&] {
    code = on_folder(arguments.folder, [&](const krm::Files& files) {
      return krm::init_command(files, name_of(arguments.folder), arguments.description);
    });
  });
  add_get(app, code);
  CLI::App* rendering = app.add_subcommand("render", "run the pipelines of a package and its subpackages");
  rendering->add_option("folder", arguments.folder);
  rendering->add_flag("--allow-exec", arguments.allows_exec,
                      "run the programs that Kptfiles name by `exec`, in a sandbox: no network, a read-only root, limits");
  rendering->add_flag("--status", arguments.writes_status,
                      "write the condition Rendered and what each step did into Kptfile.status");
  rendering->callback([&] { code = render(arguments.folder, arguments.allows_exec, arguments.writes_status); });
  CLI::App* ready = app.add_subcommand("ready", "say whether all gates are met; exit code 1 and what is missing when not");
  ready->add_option("folder", arguments.folder);
  ready->callback([&] { code = on_folder(arguments.folder, krm::ready_command); });
  CLI::App* tree = app.add_subcommand("tree", "show packages and their resources");
  tree->add_option("folder", arguments.folder);
  tree->callback([&] {
    code = on_folder(arguments.folder,
                     [&](const krm::Files& files) { return krm::tree_command(files, name_of(arguments.folder)); });
  });
  add_comparisons(app, arguments, code);
  add_edits(app, arguments, code);
  try {
    std::vector<std::string> reversed(words.rbegin(), words.rend());
    app.parse(reversed);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return code;
}

}  // namespace slipway::cli
