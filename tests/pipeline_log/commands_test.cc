// slipway pipeline history and dora, as the command line runs them.
#include "delivery/pipeline/dora_command.h"
#include "delivery/pipeline/history_command.h"
#include "log_fixture.h"

namespace slipway::pipeline_log_test {
namespace {

using namespace delivery::pipeline;  // NOLINT: the room under test
using delivery::CommandAnswer;
using std::chrono::hours;

class CommandsTest : public LogTest {
 protected:
  Result<CommandAnswer> say(const delivery::Command& command, std::vector<std::string> words,
                            std::map<std::string, std::string> options = {}) {
    return run(command.run({.env = env(),
                            .client = &server(),
                            .ns = "apps",
                            .words = std::move(words),
                            .objects = {},
                            .options = std::move(options)}));
  }
  std::string text_of(const Result<CommandAnswer>& answer) {
    EXPECT_TRUE(answer) << (answer ? "" : answer.error().message);
    return answer ? answer->text : "";
  }
  void history_of_prod() {
    make_pipeline();
    create(kReleases, R"(
{apiVersion: pipelines.slipway.dev/v1alpha1, kind: Release, metadata: {name: podinfo-r1, namespace: apps},
 spec: {pipeline: podinfo, version: 1.1.0, artifactCreated: "2026-01-01T00:00:00Z"}}
)");
    write_status("prod", "1.0.0");
    advance(hours{2});
    write_status("prod", "1.1.0");
    advance(hours{1});
    write_status("prod", "1.0.0");
    advance(hours{1});
  }
};

TEST_F(CommandsTest, history_is_a_table_json_or_csv) {
  history_of_prod();
  const std::string table = text_of(say(history_command(), {"podinfo"}, {{"environment", "prod"}, {"since", "3h"}}));
  EXPECT_EQ(table.substr(0, table.find('\n')), "TIME                  WHAT      ENVIRONMENT  VERSION        BY       WHY");
  EXPECT_NE(table.find("2026-01-01T02:00:00Z  observed  prod         1.0.0 → 1.1.0  slipway\n"), std::string::npos) << table;
  EXPECT_NE(table.find("departed  prod         1.1.0          slipway  replaced by the lower version 1.0.0\n"),
            std::string::npos);
  EXPECT_EQ(table.find("2026-01-01T00:00"), std::string::npos) << "older than three hours";
  EXPECT_EQ(text_of(say(history_command(), {"podinfo"}, {{"environment", "dev"}, {"since", "1h"}})),
            "nothing is told of that time\n");
  const auto json = json::parse(text_of(say(history_command(), {"podinfo"}, {{"output", "json"}})));
  ASSERT_TRUE(json);
  EXPECT_EQ((*json)["items"].item(0)["pipelineUID"].as_string(), kube::uid(get(kPipelines, "podinfo")));
  EXPECT_TRUE((*json)["items"].item(0).has("hash"));
  const std::string csv = text_of(say(history_command(), {"podinfo"}, {{"output", "csv"}}));
  EXPECT_TRUE(csv.starts_with("time,what,environment,release,version,digest,before,by,text,pipelineUID,hash\r\n"));
}

TEST_F(CommandsTest, history_says_whether_the_log_is_whole) {
  history_of_prod();
  const auto whole = say(history_command(), {"podinfo"}, {{"verify", "true"}});
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->exit_code, 0);
  ASSERT_EQ(whole->notes.size(), 1U);
  EXPECT_TRUE(whole->notes[0].starts_with("whole: ")) << whole->notes[0];
  const Object segment = list(kDeliveryLogs).at(0);
  restart_server();
  remove(kDeliveryLogs, std::string(kube::name(segment)));
  const Value entries = segment["spec"]["entries"];
  const Object forged = segment.without_path({"metadata", "resourceVersion"})
                            .without_path({"metadata", "uid"})
                            .with_path({"spec", "entries"}, entries.with_item(0, entries.item(0).with("by", "eve")));
  const auto made = run(client::create(server(), kDeliveryLogs, forged, "eve"));
  ASSERT_TRUE(made) << made.error().message;
  const auto broken = say(history_command(), {"podinfo"}, {{"verify", "true"}});
  ASSERT_TRUE(broken);
  EXPECT_EQ(broken->exit_code, 1);
  EXPECT_NE(broken->notes.at(0).find("entry 0 of podinfo-"), std::string::npos) << broken->notes.at(0);
}

TEST_F(CommandsTest, what_is_asked_wrongly_is_said) {
  EXPECT_EQ(say(history_command(), {"nobody"}).error().reason, Reason::NotFound);
  EXPECT_EQ(say(history_command(), {"a", "b"}).error().reason, Reason::BadRequest);
  EXPECT_EQ(say(history_command(), {"a"}, {{"since", "soon"}}).error().reason, Reason::BadRequest);
  EXPECT_EQ(say(history_command(), {"a"}, {{"output", "xml"}}).error().reason, Reason::BadRequest);
  EXPECT_EQ(say(dora_command(), {"nobody"}).error().reason, Reason::NotFound);
  EXPECT_EQ(say(dora_command(), {}, {{"output", "yaml"}}).error().reason, Reason::BadRequest);
}

TEST_F(CommandsTest, dora_counts_the_last_environment_of_each_pipeline) {
  history_of_prod();
  const std::string table = text_of(say(dora_command(), {}, {{"since", "1d"}}));
  EXPECT_EQ(table,
            "PIPELINE  ENVIRONMENT  DEPLOYMENTS  PER DAY  LEAD TIME P50  P90   UNKNOWN  FAILED CHANGES  RECOVERY P50  OPEN\n"
            "podinfo   prod         2            2.00     120m           120m  1 of 2   1 of 2 (50%)    0s            0\n");
  const auto json = json::parse(text_of(say(dora_command(), {"podinfo"}, {{"output", "json"}, {"environment", "dev"}})));
  ASSERT_TRUE(json);
  EXPECT_EQ((*json)["items"].item(0)["deployments"].as_int(), 0);
  EXPECT_TRUE((*json)["items"].item(0)["leadTime"].is_null());
  const std::string csv = text_of(say(dora_command(), {"podinfo"}, {{"output", "csv"}, {"since", "1d"}}));
  EXPECT_NE(csv.find(",2,2,7200,7200,1,2,1,0.5,0,1,0\r\n"), std::string::npos) << csv;
  remove(kPipelines, "podinfo");
  const auto gone = say(dora_command(), {"podinfo"});
  ASSERT_TRUE(gone);
  EXPECT_EQ(gone->notes, std::vector<std::string>{"podinfo is left out: the pipeline is gone; say --environment"});
  EXPECT_NE(text_of(say(dora_command(), {"podinfo"}, {{"environment", "prod"}})).find("120m"), std::string::npos);
}

}  // namespace
}  // namespace slipway::pipeline_log_test
