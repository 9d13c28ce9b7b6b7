#include "delivery/application/pre_render.h"

#include <gtest/gtest.h>

#include "json/text.h"
#include "json/text_test.h"

namespace slipway::delivery::application {
namespace {

using Kind = WriteBack::Kind;

TEST(WriteBack, writes_then_settles_then_rests) {
  const WriteBack first = decide_write_back(nullptr, "in", "one", false);
  EXPECT_EQ(first.kind, Kind::Write);
  EXPECT_EQ(first.record, (PreRenderRecord{.inputs = "in", .digest = "one", .writes = 1}));
  const WriteBack second = decide_write_back(&first.record, "in", "one", true);
  EXPECT_EQ(second.kind, Kind::Settle);
  EXPECT_TRUE(second.record.is_settled);
  EXPECT_EQ(decide_write_back(&second.record, "in", "one", true).kind, Kind::Done);
  EXPECT_EQ(decide_write_back(nullptr, "in", "one", true).kind, Kind::Done) << "nothing was ever written";
}

TEST(WriteBack, stops_before_it_writes_the_same_twice) {
  const PreRenderRecord written{.inputs = "in", .digest = "one", .writes = 1};
  const WriteBack next = decide_write_back(&written, "in", "one", false);
  EXPECT_EQ(next.kind, Kind::Stop);
  EXPECT_TRUE(next.message.starts_with("the same spec was written back already and is not there")) << next.message;
  PreRenderRecord settled = written;
  settled.is_settled = true;
  const WriteBack later = decide_write_back(&settled, "in", "one", false);
  EXPECT_EQ(later.kind, Kind::Write) << "it was there; somebody has changed it since";
  EXPECT_EQ(later.record.writes, 2);
  EXPECT_FALSE(later.record.is_settled);
}

TEST(WriteBack, stops_after_ten_in_a_row) {
  PreRenderRecord known{.inputs = "in", .digest = "0", .writes = 1};
  for (int i = 2; i <= 10; ++i) {
    const WriteBack next = decide_write_back(&known, "in", std::to_string(i), false);
    ASSERT_EQ(next.kind, Kind::Write) << i;
    known = next.record;
  }
  const WriteBack stop = decide_write_back(&known, "in", "11", false);
  EXPECT_EQ(stop.kind, Kind::Stop);
  EXPECT_TRUE(stop.message.starts_with("written back 10 times in a row")) << stop.message;
  EXPECT_EQ(decide_write_back(&known, "other inputs", "11", false).record.writes, 1);
}

TEST(WriteBack, records_survive_the_annotation) {
  const PreRenderRecords records = {{"step-0", {"in", "one", 3, true}}, {"b", {"x", "y", 1, false}}};
  EXPECT_EQ(read_records(print_records(records)), records);
  EXPECT_TRUE(read_records("").empty());
  EXPECT_TRUE(read_records("no json").empty());
}

TEST(RenderedApplication, is_the_only_object) {
  const char* application =
      "{apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {name: t}, spec: {components: []}}";
  EXPECT_TRUE(rendered_application(application));
  EXPECT_TRUE(rendered_application(std::string("# Source: x\n---\n") + application));
  const std::pair<std::string, const char*> wrong[] = {
      {"", "the template renders no Application"},
      {std::string(application) + "\n---\n" + application,
       "the template renders more than one Application: only one can be written back"},
      {"{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}",
       "the template renders ConfigMap c too: only one Application can be written back"},
      {"{apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {name: t}}", "the rendered Application has no spec"},
  };
  for (const auto& [text, message] : wrong) {
    const auto found = rendered_application(text);
    ASSERT_FALSE(found) << text;
    EXPECT_EQ(found.error().message, message);
  }
}

TEST(MergedSpec, the_templates_fields_replace_and_steps_of_stage_pre_render_stay) {
  const Value spec = yaml(R"(
components: [{name: old, type: x}]
policies: [{name: p, type: y}]
workflow: {mode: {steps: DAG}, steps: [{name: t, type: helm-template, stage: pre-render}, {name: mine, type: suspend}]}
)");
  const auto only_components = merged_spec(spec, yaml("components: [{name: new, type: x}]"));
  ASSERT_TRUE(only_components);
  EXPECT_EQ(*only_components, spec.with("components", yaml("[{name: new, type: x}]")));
  const auto with_steps = merged_spec(spec, yaml("{components: [], workflow: {steps: [{name: theirs, type: deploy}]}}"));
  ASSERT_TRUE(with_steps);
  EXPECT_EQ(
      (*with_steps)["workflow"],
      yaml("{mode: {steps: DAG}, steps: [{name: t, type: helm-template, stage: pre-render}, {name: theirs, type: deploy}]}"));
  EXPECT_EQ(merged_spec(*with_steps, yaml("{components: [], workflow: {steps: [{name: theirs, type: deploy}]}}")).value(),
            *with_steps);
}

TEST(MergedSpec, workflows_that_do_not_go_together_are_refused) {
  const Value spec = yaml("{components: [], workflow: {ref: shared}}");
  EXPECT_FALSE(merged_spec(spec, yaml("{workflow: {steps: [{type: deploy}]}}")));
  EXPECT_FALSE(merged_spec(yaml("{components: []}"), yaml("{workflow: {ref: shared}}")));
  EXPECT_FALSE(merged_spec(yaml("{components: []}"), yaml("{workflow: {steps: [{type: a, stage: pre-render}]}}")));
}

}  // namespace
}  // namespace slipway::delivery::application
