#include "cluster/pod_folder.h"

#include <algorithm>
#include <set>

#include "kube/quantity.h"

namespace slipway::cluster {

namespace {

using json::Value;

constexpr const char* kPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
constexpr const char* kConfigError = "CreateContainerConfigError";

using Problem = std::unexpected<PodProblem>;

/// Whether a path names something below the folder it is relative to.
bool is_below(std::string_view path) {
  if (path.empty() || path.starts_with('/')) return false;
  while (!path.empty()) {
    const std::string_view part = path.substr(0, path.find('/'));
    if (part == "..") return false;
    path.remove_prefix(std::min(path.size(), part.size() + 1));
  }
  return true;
}

class FolderPlanner {
 public:
  FolderPlanner(const kube::Object& pod, const PodInputs& inputs, const PodPaths& paths, const ProcessUser& slipway)
      : pod_(pod), inputs_(inputs), paths_(paths), slipway_(slipway), root_(paths.pod(kube::uid(pod))) {}

  std::expected<PodFolderPlan, PodProblem> plan();

 private:
  std::expected<void, PodProblem> add_volume(const Value& volume);
  std::expected<void, PodProblem> add_files(const Value& volume, const Value& source, const kube::Object* object,
                                            const std::string& missing);
  bool has_other_users() const;
  void add_limit(const std::string& name, const Value& source);
  std::expected<PodContainer, PodProblem> container(const Value& spec);
  std::expected<void, PodProblem> set_user(const Value& spec, PodContainer& made) const;
  std::expected<PodMount, PodProblem> mount(const Value& container, const Value& spec);
  std::string volume_folder(std::string_view name) const { return root_ + "/volumes/" + std::string(name); }
  Environment base_environment() const;

  const kube::Object& pod_;
  const PodInputs& inputs_;
  const PodPaths& paths_;
  const ProcessUser& slipway_;
  const std::string root_;
  std::map<std::string, std::string, std::less<>> sources_;  // volume → folder
  std::set<std::string, std::less<>> read_only_;             // volumes of ConfigMaps and Secrets
  PodFolderPlan plan_;
};

Problem not_yet(std::string container, std::string message) {
  return Problem(PodProblem{false, std::move(container), kConfigError, std::move(message)});
}

Problem never(std::string container, std::string message) {
  return Problem(PodProblem{true, std::move(container), "StartError", std::move(message)});
}

const kube::Object* find(const std::map<std::string, kube::Object>& objects, std::string_view name) {
  const auto found = objects.find(std::string(name));
  return found == objects.end() ? nullptr : &found->second;
}

PodRestart restart_of(std::string_view policy) {
  if (policy == "Never") return PodRestart::Never;
  return policy == "OnFailure" ? PodRestart::OnFailure : PodRestart::Always;
}

std::expected<PodFolderPlan, PodProblem> FolderPlanner::plan() {
  plan_.folders = {root_, root_ + "/" + std::string(kPodWorkFolder)};
  plan_.files.push_back({paths_.address(kube::uid(pod_)), pod_["status"]["podIP"].str()});
  for (const Value& volume : pod_["spec"]["volumes"].items()) {
    if (auto added = add_volume(volume); !added) return Problem(std::move(added).error());
  }
  const auto add = [&](const char* list, std::vector<PodContainer>& into) -> std::expected<void, PodProblem> {
    for (const Value& spec : pod_["spec"][list].items()) {
      auto made = container(spec);
      if (!made) return Problem(std::move(made).error());
      into.push_back(std::move(*made));
    }
    return {};
  };
  if (auto added = add("initContainers", plan_.manifest.init_containers); !added) return Problem(std::move(added).error());
  if (auto added = add("containers", plan_.manifest.containers); !added) return Problem(std::move(added).error());
  plan_.manifest.restart = restart_of(pod_["spec"]["restartPolicy"].as_string());
  plan_.manifest.grace_seconds = pod_["spec"]["terminationGracePeriodSeconds"].as_int(30);
  return std::move(plan_);
}

std::expected<void, PodProblem> FolderPlanner::add_volume(const Value& volume) {
  const std::string name = volume["name"].str();
  if (volume.has("persistentVolumeClaim")) {
    const Value& source = volume["persistentVolumeClaim"];
    const kube::Object* claim = find(inputs_.claims, source["claimName"].as_string());
    if (claim == nullptr || kube::is_deleting(*claim)) {
      return not_yet("", fmt::format("persistentvolumeclaim \"{}\" {}", source["claimName"].as_string(),
                                     claim == nullptr ? "not found" : "is being deleted"));
    }
    sources_[name] = paths_.claim(kube::ns(pod_), source["claimName"].as_string());
    plan_.folders.push_back(sources_[name]);
    return {};
  }
  sources_[name] = volume_folder(name);
  plan_.folders.push_back(sources_[name]);
  if (volume.has("configMap") || volume.has("secret")) read_only_.insert(name);
  if (volume.has("configMap")) {
    const Value& source = volume["configMap"];
    return add_files(volume, source, find(inputs_.config_maps, source["name"].as_string()),
                     fmt::format("configmap \"{}\" not found", source["name"].as_string()));
  }
  if (volume.has("secret")) {
    const Value& source = volume["secret"];
    return add_files(volume, source, find(inputs_.secrets, source["secretName"].as_string()),
                     fmt::format("secret \"{}\" not found", source["secretName"].as_string()));
  }
  if (volume.has("emptyDir") || volume.size() == 1) {
    add_limit(name, volume["emptyDir"]);
    return {};
  }
  return never(
      "",
      fmt::format("volume \"{}\": only configMap, secret, emptyDir and persistentVolumeClaim volumes can be used here", name));
}

bool FolderPlanner::has_other_users() const {
  const auto names_another = [&](const Value& spec) {
    return spec["securityContext"]["runAsUser"].as_int(slipway_.uid) != slipway_.uid;
  };
  if (names_another(pod_["spec"])) return true;
  return std::ranges::any_of(pod_["spec"]["initContainers"].items(), names_another) ||
         std::ranges::any_of(pod_["spec"]["containers"].items(), names_another);
}

/// The server has checked that it is a quantity; none and 0 are no limit, as for the kubelet.
void FolderPlanner::add_limit(const std::string& name, const Value& source) {
  const auto limit = kube::Quantity::parse(source["sizeLimit"].as_string());
  const std::int64_t bytes = limit ? limit->units() : 0;
  if (bytes > 0) plan_.manifest.limits.push_back({.name = name, .folder = volume_folder(name), .bytes = bytes});
}

std::expected<void, PodProblem> FolderPlanner::add_files(const Value& volume, const Value& source, const kube::Object* object,
                                                         const std::string& missing) {
  const bool is_optional = source["optional"].as_bool();
  if (object == nullptr) {
    if (is_optional) return {};
    return not_yet("", missing);
  }
  auto data = data_of(*object);
  if (!data) return not_yet("", data.error().message);
  const std::string folder = sources_[volume["name"].str()];
  // What a Secret holds is for this user alone, whatever the folders above let through, unless the pod has other users.
  const unsigned mask = volume.has("secret") && !has_other_users() ? 0700 : 0777;
  const auto default_mode = static_cast<unsigned>(source["defaultMode"].as_int(0644));
  if (!source.has("items")) {
    for (auto& [key, content] : *data) plan_.files.push_back({folder + "/" + key, std::move(content), default_mode & mask});
    return {};
  }
  for (const Value& item : source["items"].items()) {
    const auto found = data->find(item["key"].str());
    const std::string path = item["path"].str();
    if (found == data->end() && is_optional) continue;
    if (found == data->end())
      return not_yet("", fmt::format("references non-existent config key: {}", item["key"].as_string()));
    if (!is_below(path))
      return never("",
                   fmt::format("volume \"{}\": item path \"{}\" is not below the volume", volume["name"].as_string(), path));
    if (const std::size_t slash = path.rfind('/'); slash != std::string::npos)
      plan_.folders.push_back(folder + "/" + path.substr(0, slash));
    const auto mode = static_cast<unsigned>(item["mode"].as_int(default_mode));
    plan_.files.push_back({folder + "/" + path, found->second, mode & mask});
  }
  return {};
}

std::expected<PodContainer, PodProblem> FolderPlanner::container(const Value& spec) {
  PodContainer made;
  made.name = spec["name"].str();
  auto environment = environment_of(pod_, spec, inputs_, base_environment());
  if (!environment) return not_yet(made.name, environment.error().message);
  if (spec["command"].empty()) {
    return never(made.name,
                 fmt::format("container \"{}\" has no command: images are not used here, so there is no entry point to "
                             "fall back to; set command",
                             made.name));
  }
  if (auto set = set_user(spec, made); !set) return Problem(std::move(set).error());
  for (const char* list : {"command", "args"}) {
    for (const Value& argument : spec[list].items()) made.argv.push_back(expand(argument.as_string(), *environment));
  }
  for (const auto& [name, value] : *environment) made.env.push_back(name + "=" + value);
  made.folder = spec["workingDir"].str();
  made.log = paths_.log(kube::uid(pod_), made.name);
  made.times = paths_.log_times(kube::uid(pod_), made.name);
  made.has_terminal = spec["tty"].as_bool();
  if (spec["stdin"].as_bool()) {
    made.input = paths_.input(kube::uid(pod_), made.name);
    plan_.folders.push_back(made.input);
  }
  for (const Value& mount_spec : spec["volumeMounts"].items()) {
    auto mounted = mount(spec, mount_spec);
    if (!mounted) return Problem(std::move(mounted).error());
    made.mounts.push_back(std::move(*mounted));
  }
  return made;
}

/// What the container says goes before what the pod says.
std::expected<void, PodProblem> FolderPlanner::set_user(const Value& spec, PodContainer& made) const {
  const auto wanted = [&](const char* field) {
    const Value& own = spec["securityContext"];
    return own.has(field) ? own[field] : pod_["spec"]["securityContext"][field];
  };
  const std::int64_t uid = wanted("runAsUser").as_int(slipway_.uid);
  const std::int64_t gid = wanted("runAsGroup").as_int(slipway_.gid);
  const bool is_root = slipway_.uid == 0;
  const auto refuse = [&](const char* field, std::int64_t asked, std::int64_t ours) {
    return never(
        made.name,
        fmt::format("container \"{0}\": securityContext.{1} {2}: Slipway runs as user {3}, group {4}, and only root can "
                    "start processes of others; leave {1} out, set it to {5}, or run Slipway as root",
                    made.name, field, asked, slipway_.uid, slipway_.gid, ours));
  };
  if (uid != slipway_.uid && !is_root) return refuse("runAsUser", uid, slipway_.uid);
  if (gid != slipway_.gid && !is_root) return refuse("runAsGroup", gid, slipway_.gid);
  if (wanted("runAsNonRoot").as_bool() && uid == 0) {
    return never(made.name,
                 fmt::format("container \"{}\": securityContext.runAsNonRoot: it would run as root, as Slipway does; "
                             "set runAsUser to another user than 0, or run Slipway as one",
                             made.name));
  }
  if (uid != slipway_.uid) made.user = uid;
  if (gid != slipway_.gid) made.group = gid;
  return {};
}

std::expected<PodMount, PodProblem> FolderPlanner::mount(const Value& container, const Value& spec) {
  const std::string name = container["name"].str();
  const auto source = sources_.find(spec["name"].as_string());
  if (source == sources_.end())
    return never(name, fmt::format("volume \"{}\" is not among the pod's volumes", spec["name"].as_string()));
  PodMount made;
  made.source = source->second;
  made.target = spec["mountPath"].str();
  made.is_read_only = spec["readOnly"].as_bool() || read_only_.contains(spec["name"].as_string());
  if (spec.has("subPathExpr")) return never(name, "subPathExpr is not implemented by the process runtime: use subPath");
  const std::string sub_path = spec["subPath"].str();
  if (!sub_path.empty()) {
    if (!is_below(sub_path)) return never(name, fmt::format("subPath {} leaves the volume", sub_path));
    made.source += "/" + sub_path;
    const auto is_file = [&](const PlannedFile& file) { return file.path == made.source; };
    if (std::none_of(plan_.files.begin(), plan_.files.end(), is_file)) plan_.folders.push_back(made.source);
  }
  return made;
}

Environment FolderPlanner::base_environment() const {
  return {{"PATH", kPath}, {"HOSTNAME", std::string(kube::name(pod_))}, {"HOME", root_ + "/" + std::string(kPodWorkFolder)}};
}

}  // namespace

std::expected<PodFolderPlan, PodProblem> plan_pod_folder(const kube::Object& pod, const PodInputs& inputs,
                                                         const PodPaths& paths, const ProcessUser& slipway) {
  return FolderPlanner(pod, inputs, paths, slipway).plan();
}

}  // namespace slipway::cluster
