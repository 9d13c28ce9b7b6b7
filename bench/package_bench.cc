// Package revisions on the real machine: a server with its controllers in this process, and bare repositories in the folder
// that is measured. Eight clients create revisions, propose some of them and approve some of these; then flips of conditions
// are compared with patches of ConfigMaps of the same size, and one package goes out to many repositories, one for each
// cluster. Sizes by SLIPWAY_BENCH_REVISIONS (1,000), _REPOSITORIES (20) and _VARIANTS (100); the aims are those of 10,000
// revisions in 200 repositories and 1,000 variants.
#include <fmt/format.h>

#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <deque>
#include <filesystem>
#include <memory>

#include "bench.h"
#include "delivery/package/kind.h"
#include "delivery/package/repository_controller.h"
#include "git/repositories.h"
#include "json/text.h"
#include "kube/object.h"
#include "kube/well_known.h"
#include "os/heap.h"
#include "plane_bench.h"

namespace slipway::bench {
namespace {

using namespace delivery::package;
using json::Value;
using namespace std::chrono_literals;

constexpr int kClients = 8;
constexpr int kRemoteLanes = 8;  // as `slipway up`
constexpr int kMirrorLanes = 4;
constexpr int kFlipRounds = 20;
constexpr int kFlipsPerRound = 100;
constexpr const char* kNamespace = "default";

struct PackageSizes {
  int revisions, repositories, variants;
  /// Revisions that are proposed; half of these are approved.
  int proposed() const { return std::max(1, revisions / 5); }
};

int number(const char* name, int fallback) {
  const char* given = std::getenv(name);
  return given == nullptr ? fallback : std::atoi(given);
}

double heap_bytes() { return static_cast<double>(os::heap_in_use()); }

Value must(Result<Value> result, std::string_view what) {
  SLIPWAY_CHECK(result.has_value(), fmt::format("{}: {}", what, result ? "" : result.error().message));
  return *std::move(result);
}

/// A reference that is awaited at the remote.
struct Awaited {
  std::string file;
  Instant since;
};

class PackageBench {
 public:
  PackageBench(PlaneBench& plane, std::string folder, PackageSizes sizes)
      : plane_(plane), folder_(std::move(folder)), sizes_(sizes), git_(open_git(plane, folder_)) {
    plane_.env().git = git_.get();
  }

  Task<> measure(Figures& figures) {
    plane_.start_controllers();
    co_await open_repositories("r", sizes_.repositories, "source");
    const double before = heap_bytes();
    co_await create(figures);
    co_await propose(figures);
    co_await approve(figures);
    co_await rest(figures, before);
    co_await flips(figures);
    co_await delete_some(figures);
    co_await fan_out(figures);
    plane_.env().parking.drop_all();
  }

 private:
  static std::unique_ptr<git::Repositories> open_git(PlaneBench& plane, const std::string& folder);

  client::Client& server() { return plane_.server(); }
  std::string bare(const std::string& repository) const { return fmt::format("{}/remotes/{}.git", folder_, repository); }
  std::string repository_of(int i) const { return fmt::format("r{}", i % sizes_.repositories); }
  static std::string package_of(int i) { return fmt::format("p{}", i); }
  std::string name_of(int i) const { return fmt::format("{}.{}.v1", repository_of(i), package_of(i)); }
  std::string scale() const {
    return fmt::format("{} revisions in {} repositories, {} clients", sizes_.revisions, sizes_.repositories, kClients);
  }

  /// Bare repositories with their objects, until each has been read.
  Task<> open_repositories(std::string prefix, int count, std::string tier) {
    for (int i = 0; i < count; ++i) {
      const std::string name = fmt::format("{}{}", prefix, i);
      const std::string command = fmt::format("git init -q --bare -b main '{}'", bare(name));
      SLIPWAY_CHECK(std::system(command.c_str()) == 0, command);
      const Value git = json::object({{"repo", Value(bare(name))}, {"createBranch", Value(true)}});
      Value object = Value()
                         .with("apiVersion", kRepositoryKind.api_version())
                         .with("kind", kRepositoryKind.kind)
                         .with_path({"metadata", "name"}, name)
                         .with_path({"metadata", "namespace"}, kNamespace)
                         .with_path({"metadata", "labels", "tier"}, tier)
                         .with_path({"spec", "type"}, "git")
                         .with_path({"spec", "deployment"}, tier == "edge")
                         .with_path({"spec", "git"}, git);
      must(co_await client::create(server(), kRepositories, object, "bench"), "repository");
    }
    for (int ready = 0; ready < count;) {
      ready = 0;
      const Value list = must(co_await client::list(server(), kRepositories,
                                                    {.ns = kNamespace, .label_selector = "tier=" + tier, .field_selector = ""}),
                              "list");
      for (const Value& one : list["items"].items()) {
        const Value condition = kube::condition(one, "Ready");
        SLIPWAY_CHECK(condition["reason"].as_string() != "Error", "a repository is not ready: " + condition["message"].str());
        ready += condition["status"].as_string() == "True" ? 1 : 0;
      }
      if (ready < count) co_await sleep_for(plane_.env(), 50ms);
    }
  }

  /// Runs `one` for the numbers below `end`, by eight clients at a time; what each took, in milliseconds.
  Task<std::vector<double>> by_clients(int end, std::function<Task<>(int)> one) {
    auto next = std::make_shared<int>(0);
    auto took = std::make_shared<std::vector<double>>();
    auto work = [](std::shared_ptr<int> at, int until, std::function<Task<>(int)> run,
                   std::shared_ptr<std::vector<double>> into) -> Task<> {
      while (*at < until) {
        const int i = (*at)++;
        const Instant since = tick();
        co_await run(i);
        into->push_back(seconds_since(since) * 1000);
      }
    };
    Tasks tasks(plane_.env());
    for (int i = 0; i < kClients; ++i) tasks.spawn(work(next, end, one, took));
    co_await tasks.join();
    co_return *took;
  }

  void tell(Figures& figures, const std::string& what, const std::vector<double>& took, const std::string& aim, double cpu) {
    figures[fmt::format("packages {} p99", what)] = {percentile(took, 0.99), "ms", aim, scale()};
    figures[fmt::format("packages {} p50", what)] = {median(took), "ms", "", ""};
    figures[fmt::format("packages {} CPU", what)] = {cpu / static_cast<double>(std::max<std::size_t>(1, took.size())), "ms", "",
                                                     "of the whole process, for each"};
  }
  static double cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
  }
  static double cpu_ms() { return cpu_seconds() * 1000; }

  static Value task_of(Value init) { return json::array({json::object({{"type", Value("init")}, {"init", std::move(init)}})}); }
  static Value revision(const std::string& repository, const std::string& package, Value tasks) {
    return Value()
        .with("apiVersion", kRevisionKind.api_version())
        .with("kind", kRevisionKind.kind)
        .with_path({"metadata", "namespace"}, kNamespace)
        .with_path({"spec", "packageName"}, package)
        .with_path({"spec", "repository"}, repository)
        .with_path({"spec", "workspaceName"}, "v1")
        .with_path({"spec", "tasks"}, std::move(tasks));
  }

  Task<> create(Figures& figures) {
    const double cpu = cpu_ms();
    const auto took = co_await by_clients(sizes_.revisions, [this](int i) -> Task<> {
      const Value init = json::object({{"description", "a package of the bench"}});
      must(co_await client::create(server(), kRevisions, revision(repository_of(i), package_of(i), task_of(init)), "bench"),
           "create");
    });
    tell(figures, "create", took, "", cpu_ms() - cpu);
    co_await until_settled();
  }

  /// PUT with another life cycle, of the revision as it is.
  Task<> move(int i, std::string lifecycle, std::string subresource) {
    const Value now = must(co_await client::get(server(), kRevisions, {kNamespace, name_of(i)}), "get");
    client::Request request;
    request.verb = client::Verb::Update;
    request.resource = kRevisions;
    request.ns = kNamespace;
    request.name = name_of(i);
    request.subresource = std::move(subresource);
    request.user_agent = "bench";
    request.body = now.with_path({"spec", "lifecycle"}, std::move(lifecycle));
    auto reply = co_await server().call(std::move(request));
    SLIPWAY_CHECK(reply.has_value(), reply ? "" : reply.error().message);
  }

  Task<> propose(Figures& figures) {
    std::deque<Awaited> awaited;
    std::vector<double> refs;
    bool is_over = false;
    Tasks looking(plane_.env());
    looking.spawn(look_for(awaited, refs, is_over));
    const double cpu = cpu_ms();
    const auto took = co_await by_clients(sizes_.proposed(), [&](int i) -> Task<> {
      co_await move(i, "Proposed", "");
      awaited.push_back({fmt::format("{}/refs/heads/proposed/{}/v1", bare(repository_of(i)), package_of(i)), tick()});
    });
    is_over = true;
    co_await looking.join();
    tell(figures, "propose", took, "<= 10", cpu_ms() - cpu);
    figures["packages propose ref p99"] = {percentile(refs, 0.99), "ms", "<= 1000", "from the answer until the remote has it"};
    co_await until_settled();
  }

  /// Looks every two milliseconds for the files of loose references, until all are there.
  Task<> look_for(std::deque<Awaited>& awaited, std::vector<double>& took, bool& is_over) {
    while (!is_over || !awaited.empty()) {
      for (std::size_t n = awaited.size(); n > 0; --n) {
        const Awaited one = awaited.front();
        awaited.pop_front();
        if (access(one.file.c_str(), F_OK) == 0) {
          took.push_back(seconds_since(one.since) * 1000);
        } else {
          awaited.push_back(one);
        }
      }
      co_await sleep_for(plane_.env(), 2ms);
    }
  }

  /// Until the repositories were looked at once more after what was published last.
  Task<> until_rest() {
    co_await sleep_for(plane_.env(), kLookRest);
    co_await until_settled();
  }

  Task<> approve(Figures& figures) {
    const double cpu = cpu_ms();
    const auto took =
        co_await by_clients(sizes_.proposed() / 2, [this](int i) { return move(i, "Published", std::string(kApproval)); });
    tell(figures, "approve", took, "<= 100", cpu_ms() - cpu);
    co_await until_rest();
  }

  Task<> delete_some(Figures& figures) {
    const double cpu = cpu_ms();
    const int first = sizes_.proposed();
    const auto took = co_await by_clients(std::min(200, sizes_.revisions - first), [this, first](int i) -> Task<> {
      must(co_await client::remove(server(), kRevisions, {kNamespace, name_of(first + i)}), "delete");
    });
    tell(figures, "delete", took, "", cpu_ms() - cpu);
  }

  /// Until nothing is left to be done to any repository, and controllers rest.
  Task<> until_settled() {
    for (int quiet = 0; quiet < 3;) {
      bool is_busy = false;
      const auto list =
          co_await client::list(server(), kRecords, {.ns = kNamespace, .label_selector = "", .field_selector = ""});
      SLIPWAY_CHECK(list.has_value());
      for (const Value& one : (*list)["items"].items()) is_busy |= !one["spec"]["intents"].empty();
      const auto revision = plane_.store().revision();
      co_await sleep_for(plane_.env(), 300ms);
      quiet = is_busy || revision != plane_.store().revision() ? 0 : quiet + 1;
    }
  }

  Task<> rest(Figures& figures, double before) {
    auto done = co_await plane_.store().compact(plane_.store().revision());
    SLIPWAY_CHECK(done.has_value());
    const auto list = must(
        co_await client::list(server(), kRecords, {.ns = kNamespace, .label_selector = "", .field_selector = ""}), "records");
    double text = 0;
    const auto count = static_cast<double>(list["items"].size());
    for (const Value& one : list["items"].items()) text += static_cast<double>(json::print(one).size());
    figures["packages record"] = {text / count, "B", "<= 4096", "JSON text of a record, as the log has it; no file is stored"};
    figures["packages heap per revision"] = {(heap_bytes() - before) / count, "B", "<= 4096",
                                             "in use after compaction, caches of the controllers included"};
  }

  Value flip(const std::string& name, int number) const {
    const Value condition = json::object({{"type", Value("bench")},
                                          {"status", Value(number % 2 == 0 ? "True" : "False")},
                                          {"message", Value(fmt::format("flip {}", number))}});
    return Value()
        .with("apiVersion", kRevisionKind.api_version())
        .with("kind", kRevisionKind.kind)
        .with_path({"metadata", "name"}, name)
        .with_path({"metadata", "namespace"}, kNamespace)
        .with_path({"status", "conditions"}, json::array({condition}));
  }

  /// Rounds of flips and of patches of a ConfigMap with as many bytes take turns, so that both meet the same machine.
  Task<> flips(Figures& figures) {
    const std::string name = name_of(sizes_.revisions - 1);
    must(co_await client::apply(server(), kRevisions, flip(name, 0), "bench"), "flip");
    const Value record = must(co_await client::get(server(), kRecords, {kNamespace, name}), "record");
    const std::size_t bytes = json::print(record).size();
    const Value map = config_map(0, bytes - std::min<std::size_t>(bytes, 200));
    must(co_await client::create(server(), kube::kConfigMaps, map, "bench"), "ConfigMap");
    std::vector<double> flips, patches;
    double flip_cpu = 0, patch_cpu = 0;
    for (int round = 0; round < kFlipRounds; ++round) {
      const double begin = cpu_seconds();
      for (int i = 0; i < kFlipsPerRound; ++i) {
        const Instant since = tick();
        must(co_await client::apply(server(), kRevisions, flip(name, i + 1), "bench"), "flip");
        flips.push_back(seconds_since(since) * 1000);
      }
      const double middle = cpu_seconds();
      flip_cpu += middle - begin;
      for (int i = 0; i < kFlipsPerRound; ++i) {
        Value patch = map.without("data").with_path({"data", "flip"}, fmt::format("flip {}", i));
        const Instant since = tick();
        must(co_await client::apply(server(), kube::kConfigMaps, patch, "bench"), "patch");
        patches.push_back(seconds_since(since) * 1000);
      }
      patch_cpu += cpu_seconds() - middle;
    }
    const std::string note = fmt::format("{} of each by server-side apply, {} bytes", flips.size(), bytes);
    figures["packages flip"] = {median(flips) / median(patches), "x", "<= 1.5", "a ConfigMap patch; medians; " + note};
    figures["packages flip CPU"] = {flip_cpu / patch_cpu, "x", "<= 1.5",
                                    "a ConfigMap patch; CPU of the whole process, which follows them"};
    figures["packages flip p50"] = {median(flips), "ms", "", ""};
    figures["packages ConfigMap patch p50"] = {median(patches), "ms", "", ""};
    figures["packages flip p99"] = {percentile(flips, 0.99), "ms", "", ""};
    figures["packages ConfigMap patch p99"] = {percentile(patches, 0.99), "ms", "", ""};
  }

  Task<int> drafts() {
    const auto list = co_await client::list(
        server(), kRecords, {.ns = kNamespace, .label_selector = "", .field_selector = "spec.packageName=fleet"});
    SLIPWAY_CHECK(list.has_value());
    int ready = 0;
    for (const Value& one : (*list)["items"].items()) {
      const bool is_draft = one["spec"]["lifecycle"].as_string() == "Draft";
      ready += is_draft && one["spec"]["intents"].empty() ? 1 : 0;
    }
    co_return ready;
  }

  /// One package to many repositories, one for each cluster, which have been read before. A draft counts when its branch is
  /// at the remote.
  Task<> fan_out(Figures& figures) {
    co_await open_repositories("edge-", sizes_.variants, "edge");
    co_await until_settled();
    const std::string selector = "matchLabels: {tier: edge}";
    const Value spec = must(json::parse_yaml(fmt::format("{{upstream: {{repo: r0, package: p0, revision: 1}}, targets: "
                                                         "[{{repositorySelector: {{{}}}, template: {{downstream: {{package: "
                                                         "fleet}}}}}}]}}",
                                                         selector)),
                            "set");
    const Value set = Value()
                          .with("apiVersion", kVariantSetKind.api_version())
                          .with("kind", kVariantSetKind.kind)
                          .with_path({"metadata", "name"}, "fleet")
                          .with_path({"metadata", "namespace"}, kNamespace)
                          .with("spec", spec);
    const double cpu = cpu_ms();
    const Instant start = tick();
    must(co_await client::create(server(), kVariantSets, set, "bench"), "set");
    while (co_await drafts() < sizes_.variants) co_await sleep_for(plane_.env(), 100ms);
    figures["packages fan-out"] = {seconds_since(start), "s", "<= 10",
                                   fmt::format("{} drafts, each at its remote", sizes_.variants)};
    figures["packages fan-out CPU"] = {(cpu_ms() - cpu) / sizes_.variants, "ms", "", "of the whole process, for each"};
  }

  PlaneBench& plane_;
  std::string folder_;
  PackageSizes sizes_;
  std::unique_ptr<git::Repositories> git_;
};

std::unique_ptr<git::Repositories> PackageBench::open_git(PlaneBench& plane, const std::string& folder) {
  std::filesystem::create_directories(folder + "/remotes");
  std::vector<Lane*> mirrors, remotes;
  for (int i = 0; i < kMirrorLanes; ++i) mirrors.push_back(&plane.open_lane("bench-mirrors"));
  for (int i = 0; i < kRemoteLanes; ++i) remotes.push_back(&plane.open_lane("bench-git", os::ThreadLane::Share::Background));
  return std::make_unique<git::Repositories>(plane.env(), mirrors, remotes,
                                             git::RepositoriesOptions{.folder = folder + "/mirrors"});
}

}  // namespace

Figures measure_packages(const Settings& settings) {
  Figures figures;
  const PackageSizes sizes{number("SLIPWAY_BENCH_REVISIONS", 1'000), number("SLIPWAY_BENCH_REPOSITORIES", 20),
                           number("SLIPWAY_BENCH_VARIANTS", 100)};
  const std::string folder = std::filesystem::absolute(settings.folder + "/packages").string();  // remotes are named by it
  PlaneBench plane(folder);
  std::unique_ptr<PackageBench> bench;
  plane.run([&](PlaneBench& opened) -> Task<> {
    bench = std::make_unique<PackageBench>(opened, folder, sizes);
    co_await bench->measure(figures);
  });
  return figures;
}

}  // namespace slipway::bench
