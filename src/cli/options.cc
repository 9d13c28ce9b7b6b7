#include "cli/options.h"

#include <CLI/CLI.hpp>

#include "plane/families.h"

namespace slipway::cli {
namespace {

void add_kubeconfig(CLI::App& app, Arguments& arguments) {
  app.add_option("--kubeconfig", arguments.kubeconfig, "file (default: KUBECONFIG, ~/.kube/config, the pod's own account)");
  app.add_option("--context", arguments.context, "context of the kubeconfig (default: the current one)");
}

void add_namespace(CLI::App& app, Arguments& arguments) {
  app.add_option("-n,--namespace", arguments.ns, "namespace (default: that of the context, else default)");
}

/// A data folder, or a cluster that a kubeconfig names.
void add_place(CLI::App& app, Arguments& arguments) {
  CLI::Option* folder = app.add_option("--data-dir", arguments.data_dir, "folder of an earlier run (default: a kubeconfig)");
  add_kubeconfig(app, arguments);
  for (const char* other : {"--kubeconfig", "--context"}) folder->excludes(app.get_option(other));
  add_namespace(app, arguments);
}

void add_files(CLI::App& app, Arguments& arguments) {
  app.add_option("-f,--filename", arguments.files,
                 "files or folders with YAML, JSON or definitions in CUE; - is standard input")
      ->required();
}

void add_pod_runtime(CLI::App& app, Arguments& arguments) {
  app.add_option("--pod-runtime", arguments.pod_runtime, "process (runs commands on this machine) or simulated (default)")
      ->check(CLI::IsMember({"process", "simulated"}));
}

void add_nodes(CLI::App& app, Arguments& arguments) {
  app.add_option("--nodes", arguments.nodes, "nodes of each cluster that is made, over which pods spread")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
}

void add_identity(CLI::App& app, Arguments& arguments) {
  app.add_option("--application-identity", arguments.application_identity,
                 "as whom applications act: user (who wrote them, where admission records that) or controller")
      ->check(CLI::IsMember({"user", "controller"}));
}

void add_admission(CLI::App& app, Arguments& arguments) {
  app.add_option("--application-admission", arguments.application_admission,
                 "what becomes of an Application with faults: enforce (refused; default) or warn (accepted with warnings)")
      ->check(CLI::IsMember({"enforce", "warn"}));
}

/// What families take where their controllers run.
void add_controller_options(CLI::App& app, Arguments& arguments) {
  for (const delivery::CommandOption& option : plane::controller_options()) {
    std::string& value = arguments.controller_options[option.name];
    if (option.is_flag) {
      app.add_flag_callback("--" + option.name, [&value] { value = "true"; }, option.help);
    } else {
      app.add_option("--" + option.name, value, option.help);
    }
  }
}

/// Of commands that follow objects to their end.
void add_following(CLI::App& app, Arguments& arguments) {
  app.add_option("--timeout", arguments.timeout, "give up after this long, e.g. 10m (exit code 3)");
  add_pod_runtime(app, arguments);
  app.add_option("-o,--output", arguments.output, "table or json")->check(CLI::IsMember({"table", "json"}));
  app.add_flag("--approve-all", arguments.approves_all, "let everything go on that waits for a person");
}

// The letters that kubectl has for options of these names.
std::string flags_of(const std::string& name) {
  constexpr std::pair<const char*, const char*> kLetters[] = {{"all-namespaces", "-A"}, {"output", "-o"}, {"selector", "-l"}};
  for (const auto& [known, letter] : kLetters) {
    if (name == known) return std::string(letter) + ",--" + name;
  }
  return "--" + name;
}

void add_family_options(CLI::App& app, const std::vector<delivery::CommandOption>& options, Arguments& arguments) {
  for (const delivery::CommandOption& option : options) {
    std::string& value = arguments.action_options[option.name];
    if (option.is_flag) {
      app.add_flag_callback(flags_of(option.name), [&value] { value = "true"; }, option.help);
    } else {
      CLI::Option* made = app.add_option(flags_of(option.name), value, option.help);
      if (option.is_repeated) made->join('\n');
    }
  }
}

void add_run(CLI::App& app, Arguments& arguments) {
  add_files(app, arguments);
  app.add_option("--data-dir", arguments.data_dir, "folder that keeps the state (default: a temporary one)");
  app.add_option("--clusters", arguments.clusters, "names of clusters; files go to the first (default: one without a name)")
      ->delimiter(',');
  add_nodes(app, arguments);
  add_namespace(app, arguments);
  add_admission(app, arguments);
  add_controller_options(app, arguments);
  add_following(app, arguments);
}

void add_local_git(CLI::App& app, Arguments& arguments) {
  app.add_flag("--allow-local-git", arguments.allows_local_git,
               "git URLs may be paths on this machine: whoever may write a Pipeline or a GitRepository then reads and writes "
               "repositories with the rights of this process");
}

/// How long what a user's object asks outside may take at most.
void add_max_times(CLI::App& app, Arguments& arguments) {
  struct Row {
    const char* flag;
    Duration OutsideTimes::* time;
    const char* help;
  };
  constexpr Row kRows[] = {
      {"--max-connect-time", &OutsideTimes::connect, "longest connecting to an HTTP or git server"},
      {"--max-step-time", &OutsideTimes::step, "longest HTTP call of a workflow's step, a forge, a file or index by URL"},
      {"--max-metric-time", &OutsideTimes::metric, "longest query of a metric"},
      {"--max-webhook-time", &OutsideTimes::webhook, "longest call of a gate's webhook or of a notifier"},
      {"--max-mail-time", &OutsideTimes::mail, "longest sending of a mail"},
      {"--max-git-time", &OutsideTimes::git, "longest operation on a git repository"},
      {"--max-program-time", &OutsideTimes::program, "longest run of a program such as helm or terraform"},
  };
  for (const Row& row : kRows) {
    app.add_option_function<std::string>(
           row.flag,
           [&arguments, row](const std::string& text) {
             const auto time = parse_duration(text);
             if (!time || *time <= Duration{0}) throw CLI::ValidationError(row.flag, text + " is no duration such as 30s");
             arguments.max_times.*row.time = *time;
           },
           row.help)
        ->default_str(to_string(OutsideTimes().*row.time));
  }
}

/// Bounds of a process that serves others (docs/security.md).
void add_bounds(CLI::App& app, Arguments& arguments) {
  app.add_option("--stop-timeout", arguments.stop_timeout,
                 "end this long after SIGTERM or SIGINT at the latest, whatever is under way; pods get three quarters of it")
      ->capture_default_str();
  add_max_times(app, arguments);
  app.add_option("--max-git-pack", arguments.max_git_mib, "MiB that one fetch from a git repository may bring")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  app.add_option("--log-level", arguments.log_level, "lowest level written to standard error: debug, info, warn or error")
      ->check(CLI::IsMember({"debug", "info", "warn", "error"}))
      ->capture_default_str();
  app.add_option("--log-format", arguments.log_format,
                 "format of log lines: text, or json (one object a line, with its time in UTC)")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  app.add_option(
         "--allow-outgoing", arguments.allowed_outgoing,
         "ADDRESS, ADDRESS/BITS or ADDRESS:PORT that steps, gates, notifiers and git may call though it is of this machine or "
         "its link: loopback, link-local, own listeners")
      ->delimiter(',');
}

void add_up(CLI::App& app, Arguments& arguments) {
  app.add_option("--data-dir", arguments.data_dir, "folder that keeps the state, the keys and the kubeconfig")->required();
  app.add_option("--listen", arguments.listen, "ADDRESS:PORT; port 0 is any")->capture_default_str();
  app.add_option("--clusters", arguments.clusters, "names of clusters, each at /clusters/NAME (default: one, at the root)")
      ->delimiter(',');
  app.add_option("--controllers", arguments.controllers,
                 "all, or cluster: only what makes it a cluster; the rest is left to slipway controller")
      ->check(CLI::IsMember({"all", "cluster"}))
      ->capture_default_str();
  app.add_option("-f,--filename", arguments.files, "files or folders to apply to the first cluster once it serves");
  app.add_flag(
      "--simulated-flux", arguments.simulates_flux,
      "Flux's kinds are served and work as under Flux: GitRepository, Kustomization, HelmRelease (docs/simulated-flux.md)");
  app.add_option("--adopt-as", arguments.adopt_as,
                 "user who becomes the author of objects that were stored before authors were recorded, and of those whose "
                 "author is unknown");
  app.add_option("--adopt-as-group", arguments.adopt_as_groups, "a group of that user; may be repeated");
  add_local_git(app, arguments);
  add_bounds(app, arguments);
  add_nodes(app, arguments);
  add_pod_runtime(app, arguments);
  add_identity(app, arguments);
  add_admission(app, arguments);
  add_controller_options(app, arguments);
}

void add_remote(CLI::App& app, const Command& command, Arguments& arguments) {
  add_kubeconfig(app, arguments);
  add_namespace(app, arguments);
  if (command.run != controller) {
    app.add_option("target", arguments.target, "KIND/NAME, KIND NAME or KIND/NAME/STEP")->required()->expected(1, 2);
    return;
  }
  add_identity(app, arguments);
  add_controller_options(app, arguments);
  app.add_option("--lease-namespace", arguments.lease_ns, "where the Lease of the leader is (default: the context's)");
  add_local_git(app, arguments);
  add_bounds(app, arguments);
  app.add_option("--webhook-listen", arguments.webhook_listen,
                 "ADDRESS:PORT where webhooks of pipelines are taken, over HTTP (default: nowhere)");
  app.add_option(
      "--porch-listen", arguments.porch_listen,
      "ADDRESS:PORT where the kinds of packages are served over HTTPS, behind an APIService of the cluster (default: "
      "nowhere)");
  app.add_option("--porch-service", arguments.porch_service,
                 "NAMESPACE/NAME[:PORT] of a Service that leads there: writes the APIService (default: somebody else does)");
  app.add_option("--data-dir", arguments.data_dir,
                 "folder that keeps copies of repositories and the keys of --porch-listen (default: a temporary one)");
  app.add_flag("--cluster-controllers", arguments.cluster_controllers,
               "also run what makes a bare API server a cluster: Jobs, Deployments, simulated pods, garbage collection");
}

/// What one command of the table has beside the others.
void add_own(CLI::App& app, const Command& command, Arguments& arguments) {
  if (command.run == get) {
    app.add_flag("-A,--all-namespaces", arguments.all_namespaces, "all namespaces");
    app.add_option("-o,--output", arguments.output, "table, wide, json, yaml or name")
        ->check(CLI::IsMember({"table", "wide", "json", "yaml", "name"}));
  }
  if (command.run == status) {
    app.add_flag("--tree", arguments.shows_tree, "show what it has made, down to pods");
    app.add_flag("-w,--watch", arguments.watches, "tell what changes until it has ended or waits for a person");
    app.add_option("-o,--output", arguments.output, "table, json or yaml")->check(CLI::IsMember({"table", "json", "yaml"}));
  }
  if (command.run == logs || command.run == exec) {
    app.add_option("-c,--container", arguments.container, "container, where a pod has several");
    app.add_option("--cluster", arguments.cluster, "cluster of the pod (default: the first that has one)");
  }
  if (command.run == remove) {
    app.add_option("--cascade", arguments.cascade, "background, foreground or orphan (keeps the Jobs)")
        ->check(CLI::IsMember({"background", "foreground", "orphan"}));
  }
}

void add_on_object(CLI::App& app, const Command& command, Arguments& arguments) {
  if (command.run == apply) {
    add_files(app, arguments);
  } else {
    CLI::Option* target = app.add_option("target", arguments.target,
                                         command.run == exec ? "KIND/NAME or KIND/NAME/COMPONENT, then -- COMMAND"
                                                             : "KIND, KIND/NAME, KIND NAME or KIND/NAME/STEP");
    if (command.run == exec) {
      target->required()->expected(2, CLI::detail::expected_max_vector_size);
    } else {
      target->required()->expected(1, 2);
    }
  }
  if (command.needs == Command::Needs::Place) {
    add_place(app, arguments);
  } else {
    app.add_option("--data-dir", arguments.data_dir, "folder of an earlier run")->required();
    add_namespace(app, arguments);
  }
  const bool follows = command.run == apply || (command.action != nullptr && !command.action->only_reads);
  if (follows) {
    add_following(app, arguments);
    app.add_flag("--wait", arguments.waits, "with a cluster elsewhere: wait for the end");
  }
  if (command.action != nullptr) add_family_options(app, command.action->options, arguments);
  add_own(app, command, arguments);
}

void add_of_family(CLI::App& app, const delivery::Command& command, Arguments& arguments) {
  if (command.input == delivery::Command::Input::Files) add_files(app, arguments);
  if (command.input == delivery::Command::Input::Words) {
    // "[NAME]" may be left out.
    const bool is_optional = command.words_name.starts_with('[');
    const std::string name = is_optional ? command.words_name.substr(1, command.words_name.size() - 2) : command.words_name;
    app.add_option(name, arguments.target, command.words_help)->required(!is_optional);
  }
  if (command.cluster == delivery::Command::Cluster::Never) {
    add_namespace(app, arguments);
  } else {
    add_place(app, arguments);
  }
  add_family_options(app, command.options, arguments);
}

}  // namespace

void add_options(CLI::App& app, const Command& command, Arguments& arguments) {
  switch (command.needs) {
    case Command::Needs::Files:
      return add_run(app, arguments);
    case Command::Needs::Nothing:
      return add_up(app, arguments);
    case Command::Needs::Remote:
      return add_remote(app, command, arguments);
    case Command::Needs::Target:
    case Command::Needs::Place:
      return add_on_object(app, command, arguments);
    case Command::Needs::Family:
      return add_of_family(app, *command.family, arguments);
  }
}

CLI::App* add_subcommand(CLI::App& app, const std::string& name, const std::string& help) {
  const auto space = name.find(' ');
  if (space == std::string::npos) return app.add_subcommand(name, help);
  const std::string parent = name.substr(0, space);
  const std::string word = name.substr(space + 1);
  const auto known = app.get_subcommands([&](const CLI::App* one) { return one->get_name() == parent; });
  CLI::App* group = known.empty() ? nullptr : known.front();
  if (group == nullptr) {
    group = app.add_subcommand(parent);
    group->require_subcommand(1);
  }
  group->description(group->get_description().empty() ? word : group->get_description() + ", " + word);
  return group->add_subcommand(word, help);
}

}  // namespace slipway::cli
