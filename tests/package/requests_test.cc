// Requests of Porch's clients and what they are answered, as a table: moves of the life cycle at both endpoints, what is
// created, and how revisions are listed and watched.
#include <fmt/format.h>

#include "json/text.h"
#include "package_fixture.h"

namespace slipway::package_test {
namespace {

using namespace delivery::package;
using client::Request;
using client::Verb;

class PackageRequests : public PackageTest {
 public:
  /// edge.a.v1 … one in each lifecycle.
  void make_one_of_each() {
    repository("edge");
    for (const char* package : {"draft", "proposed", "published", "going"}) init("edge", package, "v1");
    for (const char* package : {"proposed", "published", "going"}) must(propose(fmt::format("edge.{}.v1", package)));
    for (const char* package : {"published", "going"}) must(approve(fmt::format("edge.{}.v1", package)));
    must(move("edge.going.v1", "DeletionProposed"));
  }
  /// A PUT that only tries.
  std::string attempt(const std::string& name, const std::string& to, const std::string& subresource) {
    Request request;
    request.verb = Verb::Update;
    request.resource = kRevisions;
    request.name = name;
    request.subresource = subresource;
    request.dry_run = true;
    request.body = revision(name).with_path({"spec", "lifecycle"}, to);
    const auto reply = call(std::move(request));
    return reply ? "ok" : std::string(to_string(reply.error().reason));
  }
  std::string post(const std::string& spec, const std::string& metadata = "{}") {
    return fault(create(
        fmt::format("{{apiVersion: porch.kpt.dev/v1alpha1, kind: PackageRevision, metadata: {}, spec: {}}}", metadata, spec)));
  }
};

TEST_F(PackageRequests, moves_of_the_life_cycle_at_both_endpoints) {
  make_one_of_each();
  struct Row {
    const char* from;
    const char* to;
    const char* main;
    const char* approval;
  };
  constexpr Row kRows[] = {{"draft", "Draft", "ok", "Invalid"},
                           {"draft", "Proposed", "ok", "Invalid"},
                           {"draft", "Published", "Invalid", "Invalid"},
                           {"draft", "DeletionProposed", "Invalid", "Invalid"},
                           {"proposed", "Draft", "ok", "ok"},
                           {"proposed", "Proposed", "ok", "Invalid"},
                           {"proposed", "Published", "Invalid", "ok"},
                           {"proposed", "DeletionProposed", "Invalid", "Invalid"},
                           {"published", "Draft", "Invalid", "Invalid"},
                           {"published", "Proposed", "Invalid", "Invalid"},
                           {"published", "Published", "ok", "Invalid"},
                           {"published", "DeletionProposed", "ok", "ok"},
                           {"going", "Draft", "Invalid", "Invalid"},
                           {"going", "Proposed", "Invalid", "Invalid"},
                           {"going", "Published", "ok", "ok"},
                           {"going", "DeletionProposed", "ok", "Invalid"},
                           {"draft", "Nonsense", "Invalid", "Invalid"}};
  for (const Row& row : kRows) {
    const std::string name = fmt::format("edge.{}.v1", row.from);
    EXPECT_EQ(attempt(name, row.to, ""), row.main) << row.from << " to " << row.to;
    EXPECT_EQ(attempt(name, row.to, "approval"), row.approval) << row.from << " to " << row.to << " by approval";
  }
  EXPECT_EQ(lifecycle("edge.proposed.v1"), "Proposed") << "nothing of it was done";
}

TEST_F(PackageRequests, what_may_be_created) {
  make_one_of_each();
  EXPECT_EQ(post("{packageName: a, repository: none, workspaceName: v1}"),
            "NotFound: repositories.config.porch.kpt.dev \"none\" not found");
  EXPECT_TRUE(post("{packageName: draft, repository: edge, workspaceName: v1}").starts_with("AlreadyExists: "));
  EXPECT_TRUE(
      post("{packageName: draft, repository: edge, workspaceName: v2}").starts_with("BadRequest: `init` cannot create"));
  EXPECT_TRUE(post("{packageName: draft/inner, repository: edge, workspaceName: v1}").contains("packages cannot be nested"));
  EXPECT_TRUE(post("{packageName: a, repository: edge, workspaceName: v1, lifecycle: Proposed}").starts_with("Invalid: "));
  EXPECT_TRUE(
      post("{packageName: a, repository: edge, workspaceName: Not_a_label}").contains("spec.workspaceName: Invalid value"));
  EXPECT_TRUE(post("{packageName: a, repository: edge, workspaceName: main}").contains("is the repository's branch"));
  EXPECT_TRUE(post("{packageName: a, repository: edge, workspaceName: v1}", "{labels: {kpt.dev/latest-revision: 'true'}}")
                  .contains("label is managed by porch"));
  EXPECT_TRUE(post("{packageName: a, repository: edge, workspaceName: v1, tasks: [{type: init}, {type: init}]}")
                  .contains("spec.tasks: Too many"));
  EXPECT_TRUE(post("{packageName: draft, repository: edge, workspaceName: v2, tasks: [{type: edit, edit: {sourceRef: {name: "
                   "edge.draft.v1}}}]}")
                  .contains("source revision must be published"));
  EXPECT_EQ(names(kRevisions, "spec.packageName=a"), std::vector<std::string>{}) << "none was made";
  EXPECT_TRUE(
      post("{packageName: c, repository: edge, workspaceName: v1, tasks: [{type: clone, clone: {upstreamRef: {type: oci, "
           "oci: {image: x}}}}]}")
          .starts_with("NotImplemented: "));
}

TEST_F(PackageRequests, what_is_not_implemented_says_so_and_what_to_use) {
  must(env_->run(
      client::create(slipway_->server(), kRepositories,
                     json::parse_yaml("{apiVersion: config.porch.kpt.dev/v1alpha1, kind: Repository, metadata: {name: "
                                      "images, namespace: default}, spec: {type: oci, oci: {registry: r.example}}}")
                         .value(),
                     "test")));
  EXPECT_EQ(post("{packageName: a, repository: images, workspaceName: v1}"),
            "NotImplemented: Repository images: registries are not implemented: keep packages in a Git repository (type git)");
  advance(seconds{5});
  const Value repository = must(env_->run(client::get(slipway_->server(), kRepositories, {"default", "images"})));
  const Value& ready = kube::condition(repository, "Ready");
  EXPECT_EQ(ready["status"].as_string(), "False");
  EXPECT_TRUE(ready["message"].as_string().contains("registries are not implemented")) << ready["message"].as_string();
  Request request;
  request.verb = Verb::List;
  request.resource = {"porch.kpt.dev", "v1alpha2", "packagerevisions"};
  const auto listed = call(request);
  ASSERT_FALSE(listed);
  EXPECT_EQ(fault(fail(listed.error())),
            "NotImplemented: porch.kpt.dev/v1alpha2 is not implemented: use v1alpha1, which has the same revisions");
}

TEST_F(PackageRequests, lists_select_by_fields_and_labels_and_watches_tell_of_what_comes_and_goes) {
  make_one_of_each();
  EXPECT_EQ(names(kRevisions, "spec.lifecycle=Proposed"), std::vector<std::string>{"edge.proposed.v1"});
  EXPECT_EQ(names(kRevisions, "spec.revision=1,spec.repository=edge"),
            (std::vector<std::string>{"edge.going.v1", "edge.published.v1"}));
  EXPECT_EQ(names(kRevisions, "spec.revision=0").size(), 2U);
  EXPECT_EQ(names(kRevisions, "metadata.name=edge.draft.v1").size(), 1U);
  EXPECT_EQ(names(kResources, "spec.workspaceName=v1,spec.packageName=draft").size(), 1U);

  Request request;
  request.verb = Verb::Watch;
  request.resource = kRevisions;
  request.ns = "default";
  request.field_selector = "spec.lifecycle=Proposed";
  auto watch = env_->run(slipway_->server().watch(request));
  ASSERT_TRUE(watch) << watch.error().message;
  std::vector<client::WatchEvent> come;
  const auto next = [&]() -> std::string {
    if (come.empty()) come = env_->run((*watch)->next()).value_or(std::vector<client::WatchEvent>{});
    if (come.empty()) return "the watch ended";
    const client::WatchEvent one = come.front();
    come.erase(come.begin());
    return fmt::format("{} {} {}", client::to_string(one.type), kube::kind(one.object), kube::name(one.object));
  };
  EXPECT_EQ(next(), "ADDED PackageRevision edge.proposed.v1");
  must(propose("edge.draft.v1"));
  EXPECT_EQ(next(), "ADDED PackageRevision edge.draft.v1");
  must(move("edge.proposed.v1", "Draft"));
  std::string told = next();
  if (told == "MODIFIED PackageRevision edge.draft.v1") told = next();  // its proposal is in the repository now
  EXPECT_EQ(told, "DELETED PackageRevision edge.proposed.v1");
}

TEST_F(PackageRequests, what_is_put_must_say_which_version_it_is_of_and_identity_stays) {
  make_one_of_each();
  const Value object = revision("edge.draft.v1");
  EXPECT_TRUE(
      fault(put(kRevisions, object.without_path({"metadata", "resourceVersion"}))).contains("must be specified for an update"));
  EXPECT_TRUE(fault(put(kRevisions, object.with_path({"metadata", "resourceVersion"}, "1"))).starts_with("Conflict: "));
  EXPECT_TRUE(fault(put(kRevisions, object.with_path({"spec", "workspaceName"}, "v9"))).contains("are immutable"));
  EXPECT_TRUE(fault(push("edge.proposed.v1", "x.txt", "x")).contains("package must be Draft"));
  EXPECT_TRUE(fault(push("edge.published.v1", "x.txt", "x")).contains("package must be Draft"));
  const Value files = get(kResources, "edge.draft.v1");
  EXPECT_TRUE(fault(put(kResources, files.with_path({"spec", "resources", "../x"}, "x"))).contains("is no path of a file"));
  EXPECT_TRUE(fault(put(kResources, files.without_path({"spec", "resources", "Kptfile"}))).contains("a package has a Kptfile"));
  must(push("edge.draft.v1", "x.txt", "one"));
  EXPECT_TRUE(fault(put(kResources, files.with_path({"spec", "resources", "x.txt"}, "two"))).starts_with("Conflict: "));
  EXPECT_TRUE(fault(try_get(kResources, "edge.none.v1")).starts_with("NotFound: packagerevisionresources.porch.kpt.dev"));
}

TEST_F(PackageRequests, labels_annotations_finalizers_and_owners_are_kept_and_a_finalizer_holds_the_repository_too) {
  make_one_of_each();
  Repository& edge = *repositories_["edge"];
  const std::string name = "edge.draft.v1";
  must(patch(kRevisions, name,
             "{metadata: {labels: {team: net}, annotations: {a: b}, finalizers: [example.org/hold], ownerReferences: "
             "[{apiVersion: v1, kind: ConfigMap, name: o, uid: u-1}]}}",
             client::PatchType::Merge));
  const Value object = revision(name);
  EXPECT_EQ(object["metadata"]["ownerReferences"].item(0)["uid"], Value("u-1"));
  EXPECT_EQ(list(kRevisions, "", "team=net").size(), 1U);
  advance(minutes{2});
  EXPECT_FALSE(revision(name).is_null()) << "nothing is collected with its owner";
  must(remove(kRevisions, name));
  advance(seconds{5});
  EXPECT_TRUE(revision(name)["metadata"].has("deletionTimestamp"));
  EXPECT_TRUE(edge.git("branch --list 'drafts/*'").contains("drafts/draft/v1"));
  must(patch(kRevisions, name, "{metadata: {finalizers: []}}", client::PatchType::Merge));
  advance(seconds{5});
  EXPECT_TRUE(revision(name).is_null());
  EXPECT_EQ(edge.git("branch --list 'drafts/*'"), "");
}

TEST_F(PackageRequests, records_are_written_by_the_server_only) {
  make_one_of_each();
  const Value record = get(kRecords, "edge.draft.v1");
  EXPECT_TRUE(
      fault(put(kRecords, record.with_path({"spec", "lifecycle"}, "Published"))).contains("records are written by the server"));
}

TEST_F(PackageRequests, a_tag_of_others_on_a_commit_without_the_package_hides_no_revision) {
  Repository& edge = repository("edge");
  edge.git("tag tk/v1 main");
  const std::string name = init("edge", "tk", "v1");
  must(propose(name));
  must(approve(name));
  EXPECT_EQ(revision(name)["spec"]["revision"].as_int(), 2) << "the tag's number is taken";
  must(remove(kRepositories, "edge"));
  ASSERT_TRUE(until([&] { return revision(name).is_null(); }));
  register_repository("edge", Deployment::No);
  EXPECT_EQ(revision(name)["spec"]["revision"].as_int(), 2);
  // On a commit with the package, but not made by a server: the one that says its workspace counts.
  edge.git("tag tk/v3 main");
  edge.commit({{"tk/by-hand.yaml", "a: b\n"}}, "by hand");
  edge.git("tag -f tk/v1 main");
  must(remove(kRepositories, "edge"));
  ASSERT_TRUE(until([&] { return revision(name).is_null(); }));
  register_repository("edge", Deployment::No);
  EXPECT_EQ(revision(name)["spec"]["revision"].as_int(), 2);
}

TEST_F(PackageRequests, fields_that_a_kind_does_not_have_are_refused_under_strict_and_told_under_warn) {
  repository("edge");
  const auto send = [&](Verb verb, const std::string& validation, Value body, const std::string& name = "") {
    Request request;
    request.verb = verb;
    request.patch_type = client::PatchType::Merge;
    request.resource = kRevisions;
    request.name = name;
    request.field_validation = validation;
    request.body = std::move(body);
    return call(std::move(request));
  };
  const Value body = json::parse_yaml(
                         "{apiVersion: porch.kpt.dev/v1alpha1, kind: PackageRevision, metadata: {name: x, namespace: default}, "
                         "spec: {packageName: a, repository: edge, workspaceName: v1, lifecyle: Draft, tasks: [{type: init, "
                         "init: {descriptionn: x}}]}}")
                         .value();
  const auto refused = send(Verb::Create, "Strict", body);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "PackageRevision in version \"v1alpha1\" cannot be handled as a PackageRevision: strict decoding error: unknown "
            "field \"spec.lifecyle\", unknown field \"spec.tasks[0].init.descriptionn\"");
  const auto warned = send(Verb::Create, "Warn", body);
  ASSERT_TRUE(warned) << warned.error().message;
  EXPECT_EQ(warned->warnings,
            (std::vector<std::string>{"unknown field \"spec.lifecyle\"", "unknown field \"spec.tasks[0].init.descriptionn\""}));
  const Value patch = json::parse_yaml("{spec: {bogus: 1}}").value();
  EXPECT_TRUE(send(Verb::Patch, "Strict", patch, "edge.a.v1").error().message.contains("unknown field \"spec.bogus\""));
  EXPECT_TRUE(send(Verb::Update, "Strict", revision("edge.a.v1"), "edge.a.v1")) << "what the server shows is known";
}

}  // namespace
}  // namespace slipway::package_test
