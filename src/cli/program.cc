#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <span>

#include "cli/cluster_command.h"
#include "cli/commands.h"
#include "cli/completion.h"
#include "cli/cue_command.h"
#include "cli/options.h"
#include "cli/package_command.h"
#include "cli/remote_session.h"
#include "os/heap.h"
#include "os/supervisor.h"
#include "plane/families.h"

namespace slipway::cli {
namespace {

constexpr Command kCommands[] = {
    {"up", "keep a control plane that kubectl and other clients can use", Command::Needs::Nothing, Command::Access::Write, up},
    {"controller", "run the controllers against a cluster elsewhere", Command::Needs::Remote, Command::Access::Write,
     controller},
    {"run", "apply what is in the files and run it to its end", Command::Needs::Files, Command::Access::Write, run},
    {"apply", "apply what is in the files to a cluster where controllers run", Command::Needs::Place, Command::Access::Write,
     apply},
    {"status", "show how an object stands, and with --tree what it has made", Command::Needs::Place, Command::Access::Read,
     status},
    {"get", "list objects", Command::Needs::Target, Command::Access::Read, get},
    {"describe", "show one object with all that belongs to it", Command::Needs::Place, Command::Access::Read, describe},
    {"why", "say what an object or step waits for, down to the root cause", Command::Needs::Place, Command::Access::Read, why},
    {"logs", "print the log of a pod, a Job, a step or a component", Command::Needs::Place, Command::Access::Read, logs},
    {"exec", "run a command in a container of a pod or a component", Command::Needs::Place, Command::Access::Read, exec},
    {"delete", "delete an object and what it owns", Command::Needs::Target, Command::Access::Write, remove},
};

/// What the program is when it is called kubectl-slipway, as a plugin of kubectl.
constexpr Command kPluginCommands[] = {
    {"describe", "show one object with all that belongs to it", Command::Needs::Remote, Command::Access::Write,
     plugin_describe},
    {"why", "say what an object or step waits for, down to the root cause", Command::Needs::Remote, Command::Access::Write,
     plugin_why},
};
constexpr std::string_view kPluginName = "kubectl-slipway";

plane::PodRuntimeKind pods_of(const Arguments& arguments) {
  return arguments.pod_runtime == "process" ? plane::PodRuntimeKind::Process : plane::PodRuntimeKind::Simulated;
}

/// The folder remembers which runtime its pods have, so that later commands need not say it again.
std::string remembered_runtime(const std::string& data_dir) {
  os::RealEnv real;
  const auto text = real.env().files.read(data_dir + "/pod-runtime");
  return text ? text->substr(0, text->find('\n')) : "";
}

Result<void> remember_runtime(Env& env, const Arguments& arguments) {
  return write_if_changed(env, arguments.data_dir + "/pod-runtime", arguments.pod_runtime + "\n", 0644);
}

Result<void> settle_runtime(Arguments& arguments) {
  const std::string known = arguments.data_dir.empty() ? "" : remembered_runtime(arguments.data_dir);
  if (!known.empty() && !arguments.pod_runtime.empty() && known != arguments.pod_runtime) {
    return fail(Reason::Conflict,
                fmt::format("{} was made with --pod-runtime {}: say that, or use another folder", arguments.data_dir, known));
  }
  if (arguments.pod_runtime.empty()) arguments.pod_runtime = known.empty() ? "simulated" : known;
  return {};
}

/// Which cluster the command works on: `is_elsewhere` and `has_cluster`.
void settle_place(const Command& command, Arguments& arguments) {
  const bool names_elsewhere = !arguments.kubeconfig.empty() || !arguments.context.empty();
  const bool may_be_elsewhere = command.needs == Command::Needs::Place || command.needs == Command::Needs::Family;
  arguments.is_elsewhere = command.needs == Command::Needs::Remote || (may_be_elsewhere && arguments.data_dir.empty());
  if (command.family != nullptr) {
    using Cluster = delivery::Command::Cluster;
    arguments.command = command.family;
    const bool is_named = names_elsewhere || !arguments.data_dir.empty() || has_kubeconfig_variable();
    arguments.has_cluster =
        command.family->cluster == Cluster::Always || (command.family->cluster == Cluster::IfNamed && is_named);
  }
  if (!arguments.is_elsewhere && arguments.ns.empty()) arguments.ns = "default";
}

LogLevel log_level_of(std::string_view name) {
  if (name == "debug") return LogLevel::Debug;
  if (name == "info") return LogLevel::Info;
  return name == "error" ? LogLevel::Error : LogLevel::Warn;
}

Result<AddressPolicy> policy_of(const Arguments& arguments) {
  AddressPolicy policy;
  if (arguments.pod_runtime == "process") SLIPWAY_TRY_VOID(policy.allow(AddressPolicy::kProcessPods));
  for (const std::string& text : arguments.allowed_outgoing) {
    if (auto allowed = policy.allow(text); !allowed) {
      return fail(Reason::BadRequest, fmt::format("--allow-outgoing {}", allowed.error().message));
    }
  }
  return policy;
}

int execute(const Command& command, Arguments arguments) {
  settle_place(command, arguments);
  if (const auto checked = plane::check_options(arguments.controller_options); !checked) return report(checked.error());
  arguments.data_dir = absolute(arguments.data_dir);
  const bool is_temporary = arguments.data_dir.empty();
  if (const auto settled = settle_runtime(arguments); !settled) return report(settled.error());
  if (is_temporary) arguments.data_dir = make_temporary_folder();
  if (arguments.data_dir.empty()) {
    fmt::print(stderr, "slipway: cannot make a temporary folder: set TMPDIR, or give --data-dir\n");
    return kFailed;
  }
  if (command.run == controller) os::keep_heap_small();
  const bool writes = command.access == Command::Access::Write;
  if (writes && arguments.pod_runtime == "process") {
    fmt::print(stderr,
               "note: --pod-runtime process runs the commands of pods on this machine, as this user, without isolation\n");
  }
  SessionOptions options;
  options.data_dir = arguments.data_dir;
  options.opens_cluster = command.run != up && !arguments.is_elsewhere && arguments.has_cluster;
  options.is_read_only = !writes && options.opens_cluster;
  if (command.run == run) options.clusters = arguments.clusters;
  options.on_fault = on_fault_of(arguments);
  options.family_options = arguments.controller_options;
  options.nodes = arguments.nodes;
  options.pods = pods_of(arguments);
  const bool is_for_others = command.run == up || command.run == controller;
  if (is_for_others && !arguments.allows_local_git) options.local_git = git::LocalRemotes::refuse;
  if (is_for_others) {
    const auto stop_timeout = parse_duration(arguments.stop_timeout);
    if (!stop_timeout || *stop_timeout <= Duration{0}) {
      fmt::print(stderr, "slipway: --stop-timeout: {:?} is no duration such as 10s\n", arguments.stop_timeout);
      return kBadInput;
    }
    options.stop_timeout = *stop_timeout;
    options.times = arguments.max_times;
    options.max_git_pack = arguments.max_git_mib << 20;
    options.log_level = log_level_of(arguments.log_level);
    options.log_format = arguments.log_format == "json" ? os::LogFormat::Json : os::LogFormat::Text;
    auto addresses = policy_of(arguments);
    if (!addresses) return report(addresses.error());
    options.addresses = *std::move(addresses);
  }
  int code = kFailed;
  {
    Session session(options);
    code = session.run([&](Session& open) -> Task<int> {
      const auto kept = writes ? remember_runtime(open.env(), arguments) : Result<void>{};
      if (!kept) co_return report(kept.error());
      co_return co_await command.run(open, arguments);
    });
    // What was interrupted or timed out may be gone on with, so its folder stays.
    const bool has_ended = code == kDelivered || code == kFailed || code == kBadInput;
    if (is_temporary && (has_ended || !options.opens_cluster)) {
      static_cast<void>(session.env().files.remove_all(arguments.data_dir));
    } else if (is_temporary) {
      fmt::print(stderr, "the folder is {}: go on with --data-dir {}\n", arguments.data_dir, arguments.data_dir);
    }
  }
  return code;
}

/// For measuring: what `slipway run` does before it applies anything.
int serve_until_input_ends(const Arguments& arguments) {
  SessionOptions options;
  options.data_dir = absolute(arguments.data_dir);
  options.pods = plane::PodRuntimeKind::Simulated;
  Session session(options);
  return session.run([](Session& open) -> Task<int> {
    const auto listed = co_await client::list(open.server(), {"", "v1", "namespaces"}, {});
    if (!listed) co_return report(listed.error());
    fmt::print("ready\n");
    std::fflush(stdout);
    open.start_controllers();
    co_await open.controllers()->runtime().wait_synced();
    fmt::print("idle\n");
    std::fflush(stdout);
    char byte = 0;
    co_await run_on(open.env(), open.env().compute, [&byte] {
      while (read(STDIN_FILENO, &byte, 1) > 0) {
      }
    });
    co_return kDelivered;
  });
}

/// The commands of the program: the table, and a row for each verb of the families.
std::vector<Command> all_commands(const std::vector<delivery::Action>& actions,
                                  const std::vector<delivery::Command>& families) {
  std::vector<Command> commands(std::begin(kCommands), std::end(kCommands));
  for (const delivery::Action& action : actions) {
    const auto access = action.only_reads ? Command::Access::Read : Command::Access::Write;
    commands.push_back({action.verb.c_str(), action.help.c_str(), Command::Needs::Place, access, act, nullptr, &action});
  }
  for (const delivery::Command& command : families) {
    const auto access = command.only_reads ? Command::Access::Read : Command::Access::Write;
    commands.push_back({command.verb.c_str(), command.help.c_str(), Command::Needs::Family, access, family_command, &command});
  }
  return commands;
}

/// `slipway completion SHELL`. Needs no folder and no cluster.
void add_completion(CLI::App& app, const std::vector<Command>& commands, int& code) {
  CompletionWords words{.commands = {"cluster", "completion", "cue", "fn", "pkg", "version"}, .on_objects = {}, .kinds = {}};
  for (const Command& command : commands) {
    const std::string_view name(command.name);
    words.commands.emplace_back(name.substr(0, name.find(' ')));
    const bool is_on_object = command.needs == Command::Needs::Target || command.needs == Command::Needs::Place;
    if (is_on_object && command.run != apply && !name.contains(' ')) words.on_objects.emplace_back(name);
  }
  std::ranges::sort(words.commands);
  const auto doubled = std::ranges::unique(words.commands);
  words.commands.erase(doubled.begin(), doubled.end());
  CLI::App* sub = app.add_subcommand("completion", "print a script with which a shell completes commands and kinds");
  CLI::Option* shell = sub->add_option("shell", "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  sub->callback([shell, words, &code]() mutable {
    words.kinds = kind_words();
    fmt::print("{}", completion_script(shell->as<std::string>(), words));
    code = kDelivered;
  });
}

/// The verbs of families, which work on a cluster elsewhere when no folder is named.
std::vector<Command> plugin_commands(const std::vector<delivery::Action>& actions) {
  std::vector<Command> commands(std::begin(kPluginCommands), std::end(kPluginCommands));
  for (const Command& command : all_commands(actions, {})) {
    if (command.action != nullptr) commands.push_back(command);
  }
  return commands;
}

/// The command after which a line ends or goes wrong, and its place.
struct LineEnd {
  const CLI::App* group;
  std::string name;     // with those before it: "slipway rollout"
  std::string unknown;  // the word behind it; empty: none, or an option
};

LineEnd end_of_line(const CLI::App& app, std::span<char* const> words) {
  LineEnd end{.group = &app, .name = app.get_name(), .unknown = ""};
  while (!end.group->get_subcommands().empty()) {
    end.group = end.group->get_subcommands().front();
    end.name += " " + end.group->get_name();
    const auto known = std::ranges::find(words, end.group->get_name(), [](const char* word) { return std::string_view(word); });
    words = words.subspan(known == words.end() ? words.size() : static_cast<std::size_t>(known - words.begin()) + 1);
  }
  if (!words.empty() && !std::string_view(words.front()).starts_with('-')) end.unknown = words.front();
  return end;
}

/// Whether a command, or a group of them, of the program under its own name begins with that word.
bool is_own_command(const std::string& word, const std::vector<delivery::Action>& actions) {
  const std::vector<delivery::Command> families = plane::commands();
  return word == "cluster" || word == "completion" ||
         std::ranges::any_of(all_commands(actions, families), [&](const Command& one) {
           const std::string_view name(one.name);
           return name.substr(0, name.find(' ')) == word;
         });
}

/// Of a command line that ends in a group of commands, or in the program itself: which it has. Empty otherwise.
std::string missing_word(const LineEnd& end, bool is_elsewhere) {
  if (end.group->get_require_subcommand_min() == 0) return "";
  std::string text = fmt::format("{} needs one of these commands (each has --help):", end.name);
  if (!end.unknown.empty()) {
    const std::string other = is_elsewhere ? fmt::format(" (use: slipway {})", end.unknown) : "";
    text = fmt::format("{} has no command {}{}; it has these (each has --help):", end.name, end.unknown, other);
  }
  std::size_t width = 10;
  const auto listed = end.group->get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); });
  for (const CLI::App* one : listed) width = std::max(width, one->get_name().size());
  for (const CLI::App* one : listed) {
    text += fmt::format("\n  {:<{}} {}", one->get_name(), width, one->get_description());
  }
  return text;
}

/// True when `program` is, or is a link named, kubectl-slipway.
bool is_plugin(std::string_view program) {
  const auto slash = program.rfind('/');
  return (slash == std::string_view::npos ? program : program.substr(slash + 1)) == kPluginName;
}

}  // namespace

int main(int argc, char** argv) {
  // The language has flags of its own.
  if (argc >= 2 && std::string_view(argv[1]) == "cue") return cue_command({argv + 2, argv + argc});
  // Packages in folders need no cluster.
  if (argc >= 2 && std::string_view(argv[1]) == "fn") return fn_command({argv + 2, argv + argc});
  const bool is_pkg = argc >= 2 && std::string_view(argv[1]) == "pkg";
  if (is_pkg && is_for_folders({argv + 2, argv + argc})) return pkg_command({argv + 2, argv + argc});
  if (argc == 3 && std::string_view(argv[1]) == "pod-supervisor") return os::run_supervisor(argv[2]);
  CLI::App app{"Delivers applications to Kubernetes; brings its own control plane where there is none."};
  const bool has_plugin_name = argc > 0 && is_plugin(argv[0]);
  app.name(has_plugin_name ? "kubectl slipway" : "slipway");
  app.require_subcommand(1);
  Arguments arguments;
  int code = kBadInput;
  app.add_subcommand("cue", "evaluate, export or check files of the CUE language");
  app.add_subcommand("fn", "run a KRM function over a ResourceList");
  CLI::App* packages = app.add_subcommand("pkg", "packages, as folders and as revisions of a server: render, tree");
  packages->require_subcommand(1);
  packages->add_subcommand("render", "run the pipelines of a folder");
  packages->add_subcommand("tree", "show the packages of a folder and their resources");
  app.add_subcommand("version", "print the version")->callback([&] {
    fmt::print("slipway {}\n", SLIPWAY_VERSION);
    code = kDelivered;
  });
  CLI::App* ready =
      app.add_subcommand("ready", "start a control plane, print a line, wait for the end of the input")->group("");
  ready->add_option("--data-dir", arguments.data_dir)->required();
  ready->callback([&] { code = serve_until_input_ends(arguments); });
  const std::vector<delivery::Action> actions = plane::actions();
  const std::vector<delivery::Command> family_commands = plane::commands();
  const std::vector<Command> commands = has_plugin_name ? plugin_commands(actions) : all_commands(actions, family_commands);
  if (!has_plugin_name) add_completion(app, commands, code);
  if (!has_plugin_name) add_cluster_command(app, code);
  for (const Command& command : commands) {
    CLI::App* sub = add_subcommand(app, command.name, command.help);
    add_options(*sub, command, arguments);
    sub->callback([&arguments, &code, &command] {
      arguments.action = command.name;
      code = execute(command, arguments);
    });
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const LineEnd end = end_of_line(app, std::span(argv, static_cast<std::size_t>(argc)).subspan(argc > 0 ? 1 : 0));
    const bool is_elsewhere = has_plugin_name && end.group == &app && is_own_command(end.unknown, actions);
    const std::string missing = missing_word(end, is_elsewhere);
    if (!missing.empty() && error.get_name() == "RequiredError") {
      fmt::print(stderr, "{}\n", missing);
      return kBadInput;
    }
    return app.exit(error) == 0 ? kDelivered : kBadInput;
  }
  return code;
}

}  // namespace slipway::cli
