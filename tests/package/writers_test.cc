// Many writers of one revision, several servers and people with one repository.
#include <fmt/format.h>

#include <cstdlib>
#include <set>

#include "base/task.h"
#include "json/text.h"
#include "package_fixture.h"

namespace slipway::package_test {
namespace {

using namespace delivery::package;
using client::PatchType;
using client::Request;
using client::Verb;

constexpr int kWriters = 100;
/// A hundred of each with SLIPWAY_PACKAGE_FLIPS=100 (make test-writers), which takes minutes in a build without optimisation.
int flips_or(int fallback) {
  const char* said = std::getenv("SLIPWAY_PACKAGE_FLIPS");
  return said == nullptr ? fallback : std::atoi(said);
}
const int kFlips = flips_or(10);
const int kRounds = flips_or(3);

class PackageWriters : public PackageTest {
 public:
  struct Told {
    int flips = 0;
    std::vector<Status> faults{};
  };

  /// Writes its own condition again and again by server-side apply.
  Task<> apply_flips(std::string name, int writer, Told& told) {
    for (int flip = 1; flip <= kFlips; ++flip) {
      Request request;
      request.verb = Verb::Patch;
      request.resource = kRevisions;
      request.ns = "default";
      request.name = name;
      request.patch_type = PatchType::Apply;
      request.field_manager = fmt::format("writer-{}", writer);
      request.body = *json::parse_yaml(fmt::format(
          "{{apiVersion: porch.kpt.dev/v1alpha1, kind: PackageRevision, metadata: {{name: {}}}, status: {{conditions: [{{type: "
          "t{}, status: '{}', message: flip {}}}]}}}}",
          name, writer, flip % 2 == 0 ? "True" : "False", flip));
      note(co_await slipway_->server().call(std::move(request)), told);
    }
  }

  /// Writes its own condition again and again by PUT of the whole object as it was at the start of each round.
  Task<> put_flips(std::string name, int writer, Told& told) {
    for (int flip = 1; flip <= kRounds; ++flip) {
      auto read = co_await client::get(slipway_->server(), kRevisions, {"default", name});
      const Value old = *read;
      co_await sleep_for(env_->env(), std::chrono::milliseconds{writer});  // others write meanwhile
      json::ArrayBuilder conditions;
      for (const Value& one : old["status"]["conditions"].items()) {
        if (one["type"].as_string() != fmt::format("t{}", writer)) conditions.add(one);
      }
      conditions.add(json::object({{"type", fmt::format("t{}", writer)},
                                   {"status", flip % 2 == 0 ? "True" : "False"},
                                   {"message", fmt::format("flip {}", flip)}}));
      Request request;
      request.verb = Verb::Update;
      request.resource = kRevisions;
      request.ns = "default";
      request.name = name;
      request.user_agent = fmt::format("writer-{}", writer);
      request.body = old.with_path({"status", "conditions"}, conditions.build());
      note(co_await slipway_->server().call(std::move(request)), told);
    }
  }

  static void note(const Result<client::Reply>& reply, Told& told) {
    ++told.flips;
    if (!reply) told.faults.push_back(reply.error());
  }
};

TEST_F(PackageWriters, a_hundred_writers_flip_by_apply_and_none_meets_a_conflict) {
  repository("edge");
  const std::string name = init("edge", "a", "v1");
  Told told;
  Tasks tasks(env_->env());
  for (int writer = 0; writer < kWriters; ++writer) tasks.spawn(apply_flips(name, writer, told));
  env_->run(tasks.join());
  EXPECT_EQ(told.flips, kWriters * kFlips);
  EXPECT_TRUE(told.faults.empty()) << told.faults.front().message;
  const Value object = revision(name);
  for (int writer = 0; writer < kWriters; ++writer) {
    const Value& one = kube::condition(object, fmt::format("t{}", writer));
    EXPECT_EQ(one["message"], Value(fmt::format("flip {}", kFlips)));
    EXPECT_EQ(one["owner"], Value(fmt::format("writer-{}", writer)));
  }
}

TEST_F(PackageWriters, whole_objects_of_old_versions_are_merged_and_nothing_is_lost) {
  repository("edge");
  const std::string name = init("edge", "a", "v1");
  Told told;
  Tasks tasks(env_->env());
  for (int writer = 0; writer < kWriters; ++writer) tasks.spawn(put_flips(name, writer, told));
  env_->run(tasks.join());
  EXPECT_TRUE(told.faults.empty()) << told.faults.size() << " " << told.faults.front().message;
  const Value object = revision(name);
  for (int writer = 0; writer < kWriters; ++writer) {
    EXPECT_EQ(kube::condition(object, fmt::format("t{}", writer))["message"], Value(fmt::format("flip {}", kRounds)));
  }
}

class PackageNeighbours : public PackageTest {
 public:
  void SetUp() override {
    PackageTest::SetUp();
    other_ = std::make_unique<Slipway>(*env_, "/data/other.db");
  }
  void TearDown() override {
    env_->drop_all();
    other_.reset();
    PackageTest::TearDown();
  }
  /// What follows is asked of the other server.
  void swap() { std::swap(slipway_, other_); }
  void look_again(const std::string& name) {
    must(patch(kRepositories, name, fmt::format("{{spec: {{sync: {{runOnceAt: '{}'}}}}}}", to_rfc3339(env_->now())),
               PatchType::Merge));
    advance(seconds{3});
  }

 protected:
  std::unique_ptr<Slipway> other_;
};

TEST_F(PackageNeighbours, two_servers_publish_into_one_repository_and_a_person_pushes_and_nothing_is_lost) {
  Repository& edge = repository("edge");
  swap();
  register_repository("edge", Deployment::No);
  swap();
  // Both begin the same package; the second finds the name taken in Git.
  const std::string first = init("edge", "a", "one");
  must(push(first, "first.txt", "first\n"));
  advance(seconds{1});
  swap();
  const std::string second = init("edge", "a", "two");
  must(push(second, "second.txt", "second\n"));
  must(propose(second));
  const Value published = must(approve(second));
  EXPECT_EQ(published["spec"]["revision"], Value(1));
  edge.commit({{"people.txt", "by hand\n"}}, "a person");
  swap();
  must(propose(first));
  const Value next = must(approve(first));
  EXPECT_EQ(next["spec"]["revision"], Value(2)) << "the number is taken at the remote";
  EXPECT_EQ(edge.file("a/first.txt", "a/v2"), "first\n");
  EXPECT_EQ(edge.file("a/second.txt", "a/v1"), "second\n");
  EXPECT_EQ(edge.file("people.txt"), "by hand\n");
  EXPECT_EQ(edge.file("a/first.txt"), "first\n");
  look_again("edge");
  EXPECT_EQ(lifecycle("edge.a.two"), "Published") << "what the other one has published is seen";
  EXPECT_EQ(revision("edge.a.two")["metadata"]["labels"]["kpt.dev/latest-revision"], Value());
  EXPECT_EQ(revision("edge.a.one")["metadata"]["labels"]["kpt.dev/latest-revision"], Value("true"));
}

TEST_F(PackageNeighbours, two_servers_publish_the_same_packages_at_once_while_a_person_pushes_and_nothing_is_lost) {
  constexpr int kPackages = 4, kPushes = 6;
  Repository& edge = repository("edge");
  swap();
  register_repository("edge", Deployment::No);
  swap();
  const auto approve_on = [](client::Client& server, Env& env, std::string name, std::vector<std::string>& faults) -> Task<> {
    auto now = co_await client::get(server, kRevisions, {"default", name});
    Request request;
    request.verb = Verb::Update;
    request.resource = kRevisions;
    request.ns = "default";
    request.name = name;
    request.subresource = kApproval;
    request.user_agent = "approver";
    request.body = now->with_path({"spec", "lifecycle"}, "Published");
    co_await sleep_for(env, std::chrono::milliseconds{10});
    auto reply = co_await server.call(std::move(request));
    if (!reply) faults.push_back(name + ": " + reply.error().message);
  };
  std::vector<std::string> faults;
  Tasks tasks(env_->env());
  for (const char* workspace : {"one", "two"}) {
    for (int i = 0; i < kPackages; ++i) {
      const std::string name = init("edge", fmt::format("p{}", i), workspace);
      must(push(name, fmt::format("{}.txt", workspace), "content\n"));
      must(propose(name));
      tasks.spawn(approve_on(slipway_->server(), env_->env(), name, faults));
    }
    swap();
  }
  const auto people = [](Env& env, Repository& at) -> Task<> {
    for (int i = 0; i < kPushes; ++i) {
      at.commit({{fmt::format("people{}.txt", i), "by hand\n"}}, "a person");
      co_await sleep_for(env, std::chrono::milliseconds{20});
    }
  };
  tasks.spawn(people(env_->env(), edge));
  env_->run(tasks.join());
  EXPECT_TRUE(faults.empty()) << faults.front();
  advance(minutes{1});
  for (int i = 0; i < kPushes; ++i) EXPECT_EQ(edge.file(fmt::format("people{}.txt", i)), "by hand\n") << i;
  for (int i = 0; i < kPackages; ++i) {
    std::set<std::string> published;
    for (const int revision : {1, 2}) {
      for (const char* workspace : {"one", "two"}) {
        const std::string tag = fmt::format("p{}/v{}", i, revision);
        if (edge.file(fmt::format("p{}/{}.txt", i, workspace), tag) == "content\n") published.insert(workspace);
      }
    }
    EXPECT_EQ(published, (std::set<std::string>{"one", "two"})) << "p" << i;
    const std::string log = edge.git("log --format=%s main");
    EXPECT_TRUE(log.contains(fmt::format("Approve p{}/v1", i)) && log.contains(fmt::format("Approve p{}/v2", i))) << log;
  }
}

TEST_F(PackageNeighbours, a_draft_that_somebody_goes_on_with_by_git_is_followed) {
  Repository& edge = repository("edge");
  const std::string name = init("edge", "a", "v1");
  must(patch(kRevisions, name,
             "{apiVersion: porch.kpt.dev/v1alpha1, kind: PackageRevision, metadata: {name: edge.a.v1}, status: {conditions: "
             "[{type: ipam, status: 'True'}]}}",
             PatchType::Apply, "ipam"));
  advance(seconds{1});
  edge.commit({{"a/more.txt", "by hand\n"}}, "a person", "drafts/a/v1");
  look_again("edge");
  EXPECT_EQ(file(name, "more.txt"), "by hand\n");
  EXPECT_EQ(condition(name, "ipam"), "Unknown (ContentChanged)");
  must(push(name, "ours.txt", "ours\n"));
  advance(seconds{1});
  EXPECT_EQ(edge.file("a/more.txt", "drafts/a/v1"), "by hand\n");
  EXPECT_EQ(edge.file("a/ours.txt", "drafts/a/v1"), "ours\n");
}

TEST_F(PackageNeighbours, what_both_have_changed_is_told_and_overwritten_by_nobody) {
  Repository& edge = repository("edge");
  const std::string name = init("edge", "a", "v1");
  advance(seconds{1});
  edge.commit({{"a/theirs.txt", "theirs\n"}}, "a person", "drafts/a/v1");
  must(push(name, "ours.txt", "ours\n"));
  advance(seconds{2});
  EXPECT_EQ(edge.file("a/theirs.txt", "drafts/a/v1"), "theirs\n") << "never overwritten";
  EXPECT_EQ(edge.file("a/ours.txt", "drafts/a/v1"), "");
  EXPECT_EQ(file(name, "ours.txt"), "ours\n") << "nor lost here";
  EXPECT_EQ(condition(name, "Drift"), "True (ChangedInGit)");
  EXPECT_EQ(fault(propose(name)).substr(0, 8), "Conflict") << "somebody has to decide first";
  look_again("edge");
  EXPECT_EQ(condition(name, "Drift"), "True (ChangedInGit)");

  must(patch(kRevisions, name, "{metadata: {annotations: {packages.slipway.dev/drift: ours}}}", PatchType::Merge));
  look_again("edge");
  EXPECT_EQ(condition(name, "Drift"), "absent");
  EXPECT_EQ(edge.file("a/ours.txt", "drafts/a/v1"), "ours\n");
  EXPECT_TRUE(edge.git("log --format=%s drafts/a/v1").contains("a person")) << "it stays in the history";
  must(propose(name));
  must(approve(name));
}

TEST_F(PackageNeighbours, the_other_side_can_be_taken_too) {
  Repository& edge = repository("edge");
  const std::string name = init("edge", "a", "v1");
  advance(seconds{1});
  edge.commit({{"a/theirs.txt", "theirs\n"}}, "a person", "drafts/a/v1");
  must(push(name, "ours.txt", "ours\n"));
  advance(seconds{2});
  must(patch(kRevisions, name, "{metadata: {annotations: {packages.slipway.dev/drift: theirs}}}", PatchType::Merge));
  look_again("edge");
  EXPECT_EQ(condition(name, "Drift"), "absent");
  EXPECT_EQ(file(name, "theirs.txt"), "theirs\n");
  EXPECT_EQ(file(name, "ours.txt"), "");
}

TEST_F(PackageNeighbours, a_branch_that_somebody_removed_takes_its_draft_along_and_a_moved_tag_is_told) {
  Repository& edge = repository("edge");
  const std::string name = init("edge", "a", "v1");
  must(propose(name));
  must(approve(name));
  init("edge", "b", "v1");
  advance(seconds{1});
  edge.git("branch -D drafts/b/v1");
  edge.commit({{"a/evil.txt", "evil\n"}}, "a person");
  edge.git("tag -f a/v1 main");
  look_again("edge");
  EXPECT_TRUE(revision("edge.b.v1").is_null());
  EXPECT_EQ(condition(name, "Drift"), "True (ChangedInGit)");
  EXPECT_EQ(file(name, "evil.txt"), "") << "what was approved is what is served";
}

TEST_F(PackageNeighbours, a_branch_with_another_history_takes_packages_that_are_as_they_were_along) {
  Repository& edge = repository("edge");
  const std::string begun = edge.git("rev-parse main");
  const std::string kptfile = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: a\n";
  const std::string first = edge.commit({{"a/Kptfile", kptfile}}, "a");
  look_again("edge");
  const auto commit = [&] { return get(kRecords, "edge.a.main")["spec"]["commit"].str(); };
  ASSERT_EQ(commit(), first);
  edge.commit({{"notes.txt", "more\n"}}, "more");
  look_again("edge");
  EXPECT_EQ(commit(), first) << "the package is as it was, and its commit in the history";
  edge.git("update-ref refs/heads/main " + begun);
  const std::string anew = edge.commit({{"a/Kptfile", kptfile}}, "a, told otherwise");
  ASSERT_NE(anew, first);
  look_again("edge");
  EXPECT_EQ(commit(), anew) << "the branch has the other one no more";
}

TEST_F(PackageNeighbours, one_repository_that_cannot_be_read_holds_up_no_other) {
  repository("edge");
  must(
      create("{apiVersion: config.porch.kpt.dev/v1alpha1, kind: Repository, metadata: {name: gone}, spec: {type: git, git: "
             "{repo: '/nowhere/at/all.git'}}}"));
  advance(seconds{5});
  EXPECT_EQ(kube::condition(get(kRepositories, "gone"), "Ready")["reason"], Value("Error"));
  const std::string name = init("edge", "a", "v1");
  must(propose(name));
  must(approve(name));
  EXPECT_TRUE(until([&] { return names(kRevisions).size() == 2; }));
  const auto refused = create(
      "{apiVersion: porch.kpt.dev/v1alpha1, kind: PackageRevision, metadata: {}, spec: {packageName: b, "
      "repository: gone, workspaceName: v1}}");
  EXPECT_TRUE(fault(refused).starts_with("NotFound: ")) << fault(refused);
}

}  // namespace
}  // namespace slipway::package_test
