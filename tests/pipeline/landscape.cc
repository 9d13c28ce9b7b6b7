#include "landscape.h"

#include <fmt/format.h>

#include <array>
#include <cstdio>

#include "base/digest.h"

namespace slipway::pipeline_test {
namespace {

/// A member as the hub sees it: cut off, every request fails as without a network.
class CuttableClient : public client::Client {
 public:
  CuttableClient(client::Client& inner, MemberLine& line) : inner_(inner), line_(line) {}

  Task<Result<client::Reply>> call(client::Request request) override {
    if (line_.is_cut) co_return fail(Reason::ServiceUnavailable, "connection refused");
    if (line_.refuses && line_.refuses(request)) co_return fail(Reason::Forbidden, "no rights to " + request.to_string());
    co_return co_await inner_.call(std::move(request));
  }
  Task<Result<std::unique_ptr<client::Watch>>> watch(client::Request request) override {
    if (line_.is_cut) co_return fail(Reason::ServiceUnavailable, "connection refused");
    if (line_.refuses && line_.refuses(request)) co_return fail(Reason::Forbidden, "no rights to " + request.to_string());
    auto opened = co_await inner_.watch(std::move(request));
    if (!opened) co_return fail(std::move(opened).error());
    auto watch = std::make_unique<Watched>(line_, std::move(*opened));
    line_.open.insert(watch.get());
    co_return watch;
  }

 private:
  struct Watched : client::Watch {
    Watched(MemberLine& on, std::unique_ptr<client::Watch> of) : line(on), inner(std::move(of)) {}
    ~Watched() override { line.open.erase(this); }
    Task<Result<std::vector<client::WatchEvent>>> next() override { return inner->next(); }
    void close() override { inner->close(); }
    MemberLine& line;
    std::unique_ptr<client::Watch> inner;
  };

  client::Client& inner_;
  MemberLine& line_;
};

std::string run(const std::string& command, const std::string& input) {
  const os::TestFolder folder;
  const std::string in = folder / "in";
  SLIPWAY_CHECK(os::MachineFiles().write(in, input, 0600).has_value());
  std::FILE* pipe = popen((command + " <" + in).c_str(), "r");
  SLIPWAY_CHECK(pipe != nullptr);
  std::string out;
  std::array<char, 4096> piece;
  while (const std::size_t got = fread(piece.data(), 1, piece.size(), pipe)) out.append(piece.data(), got);
  SLIPWAY_CHECK(pclose(pipe) == 0, command);
  return out;
}

}  // namespace

Repository::Repository(std::string path) : path_(std::move(path)) { run("git init -q --bare -b main " + path_, ""); }

std::string Repository::git(const std::string& words, const std::string& input) {
  return run(fmt::format("git -C {} -c user.name=Tester -c user.email=tester@example.org {}", path_, words), input);
}

std::string Repository::commit(const std::map<std::string, std::string>& files, const std::string& message,
                               const std::string& branch) {
  // The stream of git fast-import: a commit on top of the branch.
  std::string stream =
      fmt::format("commit refs/heads/{}\ncommitter Tester <tester@example.org> 1700000000 +0000\ndata {}\n{}\n", branch,
                  message.size(), message);
  if (!git("branch --list " + branch).empty()) stream += fmt::format("from refs/heads/{}^0\n", branch);
  for (const auto& [path, content] : files) {
    stream += content.empty() ? fmt::format("D {}\n", path)
                              : fmt::format("M 100644 inline {}\ndata {}\n{}\n", path, content.size(), content);
  }
  git("fast-import --quiet", stream);
  std::string id = git("rev-parse " + branch);
  id.pop_back();
  return id;
}

std::string Repository::file(const std::string& path, const std::string& branch) {
  return run(fmt::format("git -C {} show {}:{} 2>/dev/null || true", path_, branch, path), "");
}

std::vector<std::string> Repository::log(const std::string& format, const std::string& branch) {
  const std::string text = git(fmt::format("log --reverse --format='{}' {}", format, branch));
  std::vector<std::string> lines(1);
  for (const char c : text) {
    if (c == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += c;
    }
  }
  lines.pop_back();
  return lines;
}

fleet::RemoteFactory Landscape::remotes() {
  return [this](const fleet::RemoteCluster& cluster) -> Result<std::shared_ptr<client::Client>> {
    SLIPWAY_TRY(config, json::parse_yaml(cluster.kubeconfig));
    const std::string server = config["clusters"].item(0)["cluster"]["server"].str();
    for (const auto& [name, member] : clusters_) {
      if (server == fmt::format("https://{}.test", name)) {
        return std::make_shared<CuttableClient>(member.api->server(), lines_[name]);
      }
    }
    return fail(Reason::BadRequest, "no such server: " + server);
  };
}

void Landscape::open() {
  git_ = std::make_unique<git::Repositories>(env_->env(), std::vector<Lane*>{&env_->env().compute},
                                             std::vector<Lane*>{&env_->env().compute},
                                             git::RepositoriesOptions{.folder = folder_ / "mirrors"});
  env_->env().git = git_.get();
  controllers_ = std::make_unique<plane::Controllers>(env_->env(), remotes());
  std::vector<std::string> names = members_;
  names.emplace_back(kHub);
  for (const std::string& name : names) {
    const bool is_hub = name == kHub;
    plane::ApiServer::Options options;
    options.store.path = fmt::format("/data/{}.db", name);
    options.simulates_flux = true;
    options.has_root_sync = true;
    if (!is_hub) options.families = {};
    auto api = env_->run(plane::ApiServer::open(*env_, options));
    ASSERT_TRUE(api) << api.error().message;
    clusters_[name].api = std::move(*api);
    plane::Controllers::Options controllers{plane::PodRuntimeKind::Simulated, "", {}};
    controllers.http = http_;
    controllers.simulates_flux = true;
    controllers.has_root_sync = true;
    if (!is_hub) controllers.families = {};
    controllers_->add(name, clusters_[name].api->server(), controllers);
  }
  controllers_->start();
}

void Landscape::close() {
  env_->drop_all();
  controllers_.reset();
  clusters_.clear();
  git_.reset();
}

void Landscape::restart() {
  const Time now = env_->now();
  close();
  disk_.kill();
  env_ = std::make_unique<ManualEnv>(ManualEnv::Options{.start = now, .vfs = disk_.vfs()});
  open();
}

client::Client& Landscape::client(const std::string& cluster) { return clusters_.at(cluster).api->server(); }

Result<Value> Landscape::try_apply(const std::string& cluster, std::string_view yaml) {
  SLIPWAY_TRY(documents, json::parse_yaml_all(yaml));
  Value last;
  for (const json::YamlDocument& document : documents) {
    Value object = document.value;
    SLIPWAY_TRY(mapped, env_->run(kinds_.find_for(client(cluster), cluster, object)));
    if (mapped.is_namespaced && kube::ns(object).empty()) object = object.with_path({"metadata", "namespace"}, "default");
    SLIPWAY_TRY(applied, env_->run(client::apply(client(cluster), mapped.resource, object, "tester")));
    last = applied;
  }
  return last;
}

void Landscape::apply(const std::string& cluster, std::string_view yaml) {
  const auto applied = try_apply(cluster, yaml);
  EXPECT_TRUE(applied) << applied.error().message << "\n" << yaml;
}

Value Landscape::get(const std::string& cluster, const kube::Resource& resource, const std::string& name,
                     const std::string& ns) {
  const auto found = env_->run(client::get(client(cluster), resource, {ns, name}));
  return found ? *found : Value();
}

std::vector<Value> Landscape::list(const std::string& cluster, const kube::Resource& resource, const std::string& ns) {
  const auto found = env_->run(client::list(client(cluster), resource, {.ns = ns, .label_selector = "", .field_selector = ""}));
  std::vector<Value> items;
  if (found) {
    for (const Value& item : (*found)["items"].items()) items.push_back(item);
  }
  return items;
}

void Landscape::patch(const std::string& cluster, const kube::Resource& resource, const std::string& name,
                      std::string_view yaml, const std::string& ns) {
  const auto patched =
      env_->run(client::merge_patch(client(cluster), resource, {ns, name}, json::parse_yaml(yaml).value(), "tester"));
  EXPECT_TRUE(patched) << patched.error().message;
}

void Landscape::remove(const std::string& cluster, const kube::Resource& resource, const std::string& name,
                       const std::string& ns) {
  const auto removed = env_->run(client::remove(client(cluster), resource, {ns, name}));
  EXPECT_TRUE(removed) << removed.error().message;
}

void Landscape::make_namespace(const std::string& cluster, const std::string& name) {
  apply(cluster, fmt::format("{{apiVersion: v1, kind: Namespace, metadata: {{name: {}}}}}", name));
}

void Landscape::join(const std::string& member) {
  const std::string kubeconfig = fmt::format(
      "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{{name: c, cluster: {{server: 'https://{}.test'}}}}]\n"
      "contexts: [{{name: c, context: {{cluster: c, user: u}}}}]\nusers: [{{name: u, user: {{token: t}}}}]\n",
      member);
  apply(kHub, fmt::format(R"(
apiVersion: v1
kind: Secret
metadata: {{name: {0}-kubeconfig}}
data: {{value: {1}}}
---
apiVersion: gitops.weave.works/v1alpha1
kind: GitopsCluster
metadata: {{name: {0}}}
spec: {{capiClusterRef: {{name: {0}}}}}
)",
                          member, base64_encode(kubeconfig)));
}

bool Landscape::until(const std::function<bool()>& holds, Duration limit) {
  const Steady deadline = env_->steady() + limit;
  while (!holds()) {
    if (env_->steady() >= deadline) return false;
    advance(seconds{1});
  }
  return true;
}

}  // namespace slipway::pipeline_test
