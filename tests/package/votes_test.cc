// A vote is said by PUT or by any patch of /votes, always about a content that its person has seen.
#include <fmt/format.h>

#include "package_fixture.h"

namespace slipway::package_test {
namespace {

using namespace delivery::package;
using client::PatchType;

const std::string kVotesOf(kVotes);

class PackageVotes : public PackageTest {
 public:
  std::string proposal() {
    repository("edge");
    const std::string name = init("edge", "web", "v1");
    must(propose(name));
    return name;
  }
  std::string vote(const std::string& name, const std::string& user, std::string_view patched, PatchType type) {
    return fault(patch(kRevisions, name, patched, type, "tester", {.user = user}, kVotesOf));
  }
  /// "ann approve looked at it"
  std::vector<std::string> votes(const std::string& name) {
    std::vector<std::string> all;
    for (const Value& one : revision(name)["status"]["votes"].items()) {
      all.push_back(fmt::format("{} {} {}", one["user"].as_string(), one["decision"].as_string(), one["comment"].as_string()));
    }
    return all;
  }
  Value body_of(const std::string& name, const Value& vote) {
    return revision(name).with_path({"status", "votes"}, json::array({vote}));
  }
};

using Votes = std::vector<std::string>;

TEST_F(PackageVotes, every_kind_of_patch_is_a_vote) {
  const std::string name = proposal();
  EXPECT_EQ(vote(name, "ann", "{status: {votes: [{decision: approve, comment: fine}]}}", PatchType::Merge), "none");
  EXPECT_EQ(votes(name), Votes{"ann approve fine"});
  EXPECT_EQ(vote(name, "bea", "[{op: add, path: /status/votes/-, value: {decision: reject, comment: never}}]", PatchType::Json),
            "none");
  EXPECT_EQ(votes(name), (Votes{"ann approve fine", "bea reject never"}));
  EXPECT_EQ(vote(name, "cid",
                 "{apiVersion: porch.kpt.dev/v1alpha1, kind: PackageRevision, metadata: {name: edge.web.v1}, status: {votes: "
                 "[{decision: approve}]}}",
                 PatchType::Apply),
            "none");
  EXPECT_EQ(vote(name, "ann", "{status: {votes: [{decision: reject, comment: after all}]}}", PatchType::Merge), "none");
  EXPECT_EQ(votes(name), (Votes{"bea reject never", "cid approve ", "ann reject after all"}));
}

TEST_F(PackageVotes, the_first_vote_may_be_a_json_patch) {
  const std::string name = proposal();
  EXPECT_EQ(vote(name, "ann", "[{op: add, path: /status/votes/-, value: {decision: approve}}]", PatchType::Json), "none");
  EXPECT_EQ(votes(name), Votes{"ann approve "});
}

TEST_F(PackageVotes, what_is_no_vote_is_refused) {
  const std::string name = proposal();
  const auto starts = [&](const std::string& text, PatchType type, const std::string& with) {
    const std::string said = vote(name, "ann", text, type);
    EXPECT_TRUE(said.starts_with(with)) << said;
  };
  starts("{status: {votes: [{decision: approve}]}}", PatchType::StrategicMerge, "UnsupportedMediaType: ");
  starts("{status: {votes: [{decision: perhaps}]}}", PatchType::Merge, "Invalid: ");
  starts("{metadata: {labels: {a: b}}}", PatchType::Merge, "Invalid: ");
  starts("[{op: replace, path: /status/votes/7, value: {}}]", PatchType::Json, "Invalid: ");
  starts("[]", PatchType::Merge, "BadRequest: ");
  starts("{metadata: {name: other}, status: {votes: [{decision: approve}]}}", PatchType::Merge, "BadRequest: ");
  EXPECT_EQ(votes(name), Votes{});
}

TEST_F(PackageVotes, an_old_resource_version_conflicts) {
  const std::string name = proposal();
  const std::string old = revision(name)["metadata"]["resourceVersion"].str();
  must(put(kRevisions, revision(name).with_path({"metadata", "labels"}, json::object({{"a", "b"}}))));
  const std::string conflict =
      "Conflict: Operation cannot be fulfilled on packagerevisions.porch.kpt.dev \"edge.web.v1\": the object has been "
      "modified; "
      "please apply your changes to the latest version and try again";
  for (const PatchType type : {PatchType::Merge, PatchType::Apply}) {
    EXPECT_EQ(vote(name, "ann",
                   fmt::format("{{apiVersion: porch.kpt.dev/v1alpha1, kind: PackageRevision, metadata: {{name: {}, "
                               "resourceVersion: '{}'}}, status: {{votes: [{{decision: approve}}]}}}}",
                               name, old),
                   type),
              conflict);
  }
  EXPECT_EQ(vote(name, "ann",
                 fmt::format("[{{op: test, path: /metadata/resourceVersion, value: '{}'}}, {{op: add, path: /status/votes/-, "
                             "value: {{decision: approve}}}}]",
                             old),
                 PatchType::Json)
                .substr(0, 7),
            "Invalid");
  const Value vote = json::object({{"decision", "approve"}});
  const Value sent = body_of(name, vote).with_path({"metadata", "resourceVersion"}, old);
  EXPECT_EQ(fault(put(kRevisions, sent, kVotesOf, {.user = "ann"})), conflict);
  EXPECT_EQ(votes(name), Votes{});
  const Value about = vote.with("digest", revision(name)["status"]["digest"]);
  must(put(kRevisions, sent.with_path({"status", "votes"}, json::array({about})), kVotesOf, {.user = "ann"}));
  EXPECT_EQ(votes(name), Votes{"ann approve "}) << "it says which content it is about";
}

}  // namespace
}  // namespace slipway::package_test
