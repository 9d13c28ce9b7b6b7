// One program, several threads: what each renders is what one alone renders. `make sanitizers` runs this with the thread
// sanitizer, too.
#include <gtest/gtest.h>

#include <thread>

#include "cue/definitions_test.h"
#include "cue/patch/patch.h"
#include "cue/schema.h"
#include "json/text.h"

namespace slipway::cue {
namespace {

struct Work {
  const Program* component;
  const Program* trait;
  const Program* wrong;
};

/// Everything a controller does with templates: render, validate, patch, schema, an error, and CUE text.
std::string render(const Work& work, int i) {
  json::Value context = *json::parse(
      R"({"name":"web","appName":"shop","namespace":"default","revision":"r","clusterVersion":{"major":1,"minor":29}})");
  json::Value parameter =
      *json::parse(i % 2 == 0 ? R"({"image":"nginx"})"
                              : R"({"image":"nginx","ports":[{"port":80,"expose":true},{"port":53,"protocol":"UDP"}],"cpu":"1",
                      "env":[{"name":"A","value":"1"}],"volumeMounts":{"emptyDir":[{"name":"e","mountPath":"/e"}]}})");
  Cursor root = evaluate(*work.component, {{"parameter", parameter}, {"context", context}});
  std::string out = describe(root.validate(Demand::Valid));
  Cursor workload = root.field("output");
  Cursor trait = evaluate(
      *work.trait,
      {{"parameter", *json::parse(R"({"cpu":2,"memory":"1Gi"})")}, {"context", context}, {"context.output", workload}});
  auto patched = apply_patch(workload, trait.field("patch"), PatchStrategy::Unify);
  out += patched ? *patched->to_json_text() : describe(patched.error());
  out += json::print(openapi_schema(root.field("parameter")));
  Cursor wrong = evaluate(*work.wrong, {{"n", json::array({1, "x" + std::to_string(i % 3)})}});
  return out + describe(wrong.validate()) + wrong.to_cue();
}

TEST(Threads, render_as_one_alone_does) {
  testing::Definitions definitions;
  auto wrong =
      compile({{"wrong.cue",
                "import \"strings\"\n#D: {a: =~\"^[0-9]+$\", b: strings.ToUpper(a)}\nx: [for i in n {#D & {a: \"\\(i)\"}}]"}},
              {}, {.open_names = {"n"}});
  ASSERT_TRUE(wrong.has_value());
  const Work work = {definitions.find("component/webservice"), definitions.find("trait/resource"), &*wrong};
  ASSERT_TRUE(work.component != nullptr && work.trait != nullptr);
  constexpr int kTimes = 6;
  std::vector<std::string> alone;
  for (int i = 0; i < kTimes; ++i) alone.push_back(render(work, i));
  std::vector<std::vector<std::string>> seen(3);
  {
    std::vector<std::jthread> threads;
    for (auto& mine : seen) {
      threads.emplace_back([&work, &mine] {
        for (int i = 0; i < kTimes; ++i) mine.push_back(render(work, i));
      });
    }
  }
  for (const auto& mine : seen) EXPECT_EQ(mine, alone);
}

}  // namespace
}  // namespace slipway::cue
