#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>

#include "cli/cluster_command.h"
#include "cli/commands.h"
#include "cli/completion.h"
#include "cli/cue_command.h"
#include "os/supervisor.h"
#include "plane/families.h"

namespace slipway::cli {
namespace {

/// One command: how it is called, what it needs, what it does.
struct Command {
  const char* name;
  const char* help;
  enum class Needs : std::uint8_t { Files, Target, Nothing, Remote } needs;
  enum class Access : std::uint8_t { Read, Write } access;
  Task<int> (*run)(Session&, Arguments);
};

constexpr Command kCommands[] = {
    {"up", "keep a control plane that kubectl and other clients can use", Command::Needs::Nothing, Command::Access::Write, up},
    {"controller", "run the controllers against a cluster elsewhere", Command::Needs::Remote, Command::Access::Write,
     controller},
    {"apply", "apply what is in the files on a cluster elsewhere", Command::Needs::Remote, Command::Access::Write, apply_files},
    {"status", "show how an object of a cluster elsewhere stands", Command::Needs::Remote, Command::Access::Write, show_status},
    {"workflow", "suspend, resume or terminate a workflow", Command::Needs::Remote, Command::Access::Write, operate},
    {"run", "apply what is in the files and run it to its end", Command::Needs::Files, Command::Access::Write, run},
    {"get", "list objects", Command::Needs::Target, Command::Access::Read, get},
    {"describe", "show one object with all that belongs to it", Command::Needs::Target, Command::Access::Read, describe},
    {"why", "say what an object or step waits for, down to the root cause", Command::Needs::Target, Command::Access::Read, why},
    {"logs", "print the log of a pod, a Job or a step", Command::Needs::Target, Command::Access::Read, logs},
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

/// Whether without --data-dir it is about a cluster elsewhere.
bool has_remote_form(const Command& command) { return command.run == describe || command.run == why; }

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

/// Supervisors run elsewhere, so the folder must not depend on where we stand.
std::string absolute(const std::string& path) {
  if (path.empty() || path.front() == '/') return path;
  char here[4096];
  return getcwd(here, sizeof here) != nullptr ? std::string(here) + "/" + path : path;
}

std::string make_temporary_folder() {
  const char* base = std::getenv("TMPDIR");
  std::string pattern = std::string(base != nullptr && *base != '\0' ? base : "/tmp") + "/slipway-XXXXXX";
  return mkdtemp(pattern.data()) != nullptr ? pattern : "";
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

/// A command without --data-dir on a cluster elsewhere, where it has that form.
const Command& form_of(const Command& command, const Arguments& arguments) {
  if (!has_remote_form(command) || !arguments.data_dir.empty()) return command;
  return *std::ranges::find(kPluginCommands, std::string_view(command.name), &Command::name);
}

int execute(const Command& asked, Arguments arguments) {
  const Command& command = form_of(asked, arguments);
  arguments.data_dir = absolute(arguments.data_dir);
  if (arguments.ns.empty() && command.needs != Command::Needs::Remote) arguments.ns = "default";
  const bool is_temporary = arguments.data_dir.empty();
  if (const auto settled = settle_runtime(arguments); !settled) return report(settled.error());
  if (is_temporary) arguments.data_dir = make_temporary_folder();
  if (arguments.data_dir.empty()) {
    fmt::print(stderr, "slipway: cannot make a temporary folder: set TMPDIR, or give --data-dir\n");
    return kFailed;
  }
  const bool writes = command.access == Command::Access::Write;
  if (writes && arguments.pod_runtime == "process") {
    fmt::print(stderr,
               "note: --pod-runtime process runs the commands of pods on this machine, as this user, without isolation\n");
  }
  SessionOptions options;
  options.data_dir = arguments.data_dir;
  options.is_read_only = !writes;
  options.opens_cluster = command.run != up && command.needs != Command::Needs::Remote;
  options.on_fault = on_fault_of(arguments);
  options.pods = pods_of(arguments);
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
    if (is_temporary && (has_ended || command.needs == Command::Needs::Remote)) {
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
std::vector<Command> all_commands(const std::vector<delivery::Action>& actions) {
  std::vector<Command> commands(std::begin(kCommands), std::end(kCommands));
  for (const delivery::Action& action : actions) {
    commands.push_back({action.verb.c_str(), action.help.c_str(), Command::Needs::Target, Command::Access::Write, act});
  }
  return commands;
}

void add_admission_option(CLI::App& app, Arguments& arguments) {
  app.add_option("--application-admission", arguments.application_admission,
                 "what becomes of an Application with faults: enforce (refused; default) or warn (accepted with warnings)")
      ->check(CLI::IsMember({"enforce", "warn"}));
}

void add_identity_option(CLI::App& app, Arguments& arguments) {
  app.add_option("--application-identity", arguments.application_identity,
                 "as whom applications act: user (who wrote them, where admission records that) or controller")
      ->check(CLI::IsMember({"user", "controller"}));
}

/// What a command on a cluster elsewhere takes, beside where that is.
void add_remote_options(CLI::App& app, const Command& command, Arguments& arguments) {
  app.add_option("-n,--namespace", arguments.ns, "namespace (default: the context's)");
  if (command.run == apply_files) {
    app.add_option("-f,--filename", arguments.files, "files or folders with YAML or JSON; - is standard input")->required();
    return;
  }
  const char* const form =
      command.run == operate ? "VERB, and NAME or KIND/NAME[/STEP]: resume release" : "KIND/NAME, KIND NAME or KIND/NAME/STEP";
  app.add_option("target", arguments.target, form)->required()->expected(command.run == operate ? 2 : 1, 2);
  if (command.run == show_status) app.add_flag("-w,--watch", arguments.watches, "until it has ended or waits for a person");
}

void add_options(CLI::App& app, const Command& command, Arguments& arguments) {
  const bool is_run = command.needs == Command::Needs::Files;
  if (is_run) {
    app.add_option("-f,--filename", arguments.files, "files or folders with YAML or JSON; - is standard input")->required();
    app.add_option("--data-dir", arguments.data_dir, "folder that keeps the state (default: a temporary one)");
    add_admission_option(app, arguments);
  } else if (command.needs == Command::Needs::Nothing) {
    app.add_option("--data-dir", arguments.data_dir, "folder that keeps the state, the keys and the kubeconfig")->required();
    app.add_option("--listen", arguments.listen, "ADDRESS:PORT; port 0 is any")->capture_default_str();
    app.add_option("--clusters", arguments.clusters, "names of clusters, each at /clusters/NAME (default: one, at the root)")
        ->delimiter(',');
    app.add_option("--pod-runtime", arguments.pod_runtime, "process (runs commands on this machine) or simulated (default)")
        ->check(CLI::IsMember({"process", "simulated"}));
    add_identity_option(app, arguments);
    add_admission_option(app, arguments);
    return;
  } else if (command.needs == Command::Needs::Remote) {
    app.add_option("--kubeconfig", arguments.kubeconfig, "file (default: KUBECONFIG, ~/.kube/config, the pod's own account)");
    app.add_option("--context", arguments.context, "context of the kubeconfig (default: the current one)");
    if (command.run != controller) {
      add_remote_options(app, command, arguments);
      return;
    }
    add_identity_option(app, arguments);
    app.add_option("--lease-namespace", arguments.lease_ns, "where the Lease of the leader is (default: the context's)");
    app.add_flag("--cluster-controllers", arguments.cluster_controllers,
                 "also run what makes a bare API server a cluster: Jobs, Deployments, simulated pods, garbage collection");
    return;
  } else {
    app.add_option("target", arguments.target, "KIND, KIND/NAME, KIND NAME or KIND/NAME/STEP")->required()->expected(1, 2);
    CLI::Option* folder = app.add_option("--data-dir", arguments.data_dir, "folder of an earlier run");
    if (has_remote_form(command)) {
      const char* const kWhere =
          "file: look at a cluster elsewhere (default: KUBECONFIG, ~/.kube/config, the pod's own account)";
      app.add_option("--kubeconfig", arguments.kubeconfig, kWhere)->excludes(folder);
      app.add_option("--context", arguments.context, "context of the kubeconfig (default: the current one)")->excludes(folder);
    } else {
      folder->required();
    }
  }
  app.add_option("-n,--namespace", arguments.ns, "namespace (default: default)");
  const bool delivers = command.run == run || command.run == act;
  if (delivers) {
    app.add_option("--timeout", arguments.timeout, "give up after this long, e.g. 10m (exit code 3)");
    app.add_option("--pod-runtime", arguments.pod_runtime, "process (runs commands on this machine) or simulated (default)")
        ->check(CLI::IsMember({"process", "simulated"}));
    app.add_option("-o,--output", arguments.output, "table or json")->check(CLI::IsMember({"table", "json"}));
  }
  if (command.run == get) {
    app.add_flag("-A,--all-namespaces", arguments.all_namespaces, "all namespaces");
    app.add_option("-o,--output", arguments.output, "table, wide, json, yaml or name")
        ->check(CLI::IsMember({"table", "wide", "json", "yaml", "name"}));
  }
  if (command.run == logs) app.add_option("-c,--container", arguments.container, "container, where a pod has several");
  if (command.run == remove) {
    app.add_option("--cascade", arguments.cascade, "background, foreground or orphan (keeps the Jobs)")
        ->check(CLI::IsMember({"background", "foreground", "orphan"}));
  }
}

void add_action_options(CLI::App& app, const delivery::Action& action, Arguments& arguments) {
  for (const delivery::ActionOption& option : action.options) {
    app.add_option("--" + option.name, arguments.action_options[option.name], option.help);
  }
}

/// `slipway completion SHELL`. Needs no folder and no cluster.
void add_completion(CLI::App& app, const std::vector<delivery::Action>& actions, int& code) {
  CompletionWords words{.commands = {"cluster", "completion", "cue", "version"}, .on_objects = {}, .kinds = {}};
  for (const Command& command : all_commands(actions)) {
    words.commands.emplace_back(command.name);
    if (command.needs == Command::Needs::Target) words.on_objects.emplace_back(command.name);
  }
  std::ranges::sort(words.commands);
  CLI::App* sub = app.add_subcommand("completion", "print a script with which a shell completes commands and kinds");
  CLI::Option* shell = sub->add_option("shell", "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  sub->callback([shell, words, &code]() mutable {
    words.kinds = kind_words();
    fmt::print("{}", completion_script(shell->as<std::string>(), words));
    code = kDelivered;
  });
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
  if (argc == 3 && std::string_view(argv[1]) == "pod-supervisor") return os::run_supervisor(argv[2]);
  CLI::App app{"Delivers applications to Kubernetes; brings its own control plane where there is none."};
  const bool has_plugin_name = argc > 0 && is_plugin(argv[0]);
  app.name(has_plugin_name ? "kubectl slipway" : "slipway");
  app.require_subcommand(1);
  Arguments arguments;
  int code = kBadInput;
  app.add_subcommand("cue", "evaluate, export or check files of the CUE language");
  app.add_subcommand("version", "print the version")->callback([&] {
    fmt::print("slipway {}\n", SLIPWAY_VERSION);
    code = kDelivered;
  });
  CLI::App* ready =
      app.add_subcommand("ready", "start a control plane, print a line, wait for the end of the input")->group("");
  ready->add_option("--data-dir", arguments.data_dir)->required();
  ready->callback([&] { code = serve_until_input_ends(arguments); });
  const std::vector<delivery::Action> actions = plane::actions();
  if (!has_plugin_name) add_completion(app, actions, code);
  if (!has_plugin_name) add_cluster_command(app, code);
  const std::vector<Command> commands =
      has_plugin_name ? std::vector<Command>(std::begin(kPluginCommands), std::end(kPluginCommands)) : all_commands(actions);
  for (const Command& command : commands) {
    CLI::App* sub = app.add_subcommand(command.name, command.help);
    add_options(*sub, command, arguments);
    const auto action = std::ranges::find(actions, std::string_view(command.name), &delivery::Action::verb);
    if (!has_plugin_name && action != actions.end()) add_action_options(*sub, *action, arguments);
    sub->callback([&arguments, &code, &command] {
      arguments.action = command.name;
      code = execute(command, arguments);
    });
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kDelivered : kBadInput;
  }
  return code;
}

}  // namespace slipway::cli
