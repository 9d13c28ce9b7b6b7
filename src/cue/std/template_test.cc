// Behaviour of package text/template that the corpus does not fix.
#include <gtest/gtest.h>

#include "cue/cue.h"

namespace slipway::cue {
namespace {

std::string rendered(const std::string& text) {
  std::string data = "{n: \"bob\", l: [1, 2], m: {b: 2, a: 1}, no: null}";
  auto program = compile({{"x.cue", "import \"text/template\"\na: template.Execute(#\"" + text + "\"#, " + data + ")"}});
  if (!program) return describe(program.error());
  auto out = evaluate(*program).to_json_text();
  return out ? *out : describe(out.error());
}

TEST(Template, data_is_printed_as_go_prints_it) {
  EXPECT_EQ(rendered("{{.n}} {{.l}} {{.m}} {{.none}}"), R"({"a":"bob [1 2] map[a:1 b:2] <no value>"})");
}

TEST(Template, branches_ranges_variables_and_pipelines_run) {
  EXPECT_EQ(rendered("{{range $i, $v := .l}}{{if $i}},{{end}}{{$v}}{{else}}none{{end}}"), R"({"a":"1,2"})");
  EXPECT_EQ(rendered("{{if .none}}a{{else if eq .n `bob`}}b{{end}}"), R"({"a":"b"})");
  EXPECT_EQ(rendered("{{with .m}}{{.a}}{{end}} {{- len .l | printf `%d!` }}"), R"({"a":"12!"})");
}

TEST(Template, what_is_not_supported_is_an_error) {
  EXPECT_NE(rendered("{{define `x`}}{{end}}").find("text/template.Execute: template: :1: {{define}} is not supported"),
            std::string::npos);
}

TEST(Template, what_grows_without_end_is_stopped) {
  std::string ranges;
  std::string ends;
  for (int i = 0; i < 5; ++i) {  // 32 turns, each doubles
    ranges += "{{range $.l}}";
    ends += "{{end}}";
  }
  EXPECT_NE(rendered("{{$x := .n}}" + ranges + "{{$x = print $x $x}}" + ends).find("the output is too long"),
            std::string::npos);
  for (int i = 0; i < 17; ++i) {  // 2^22 turns of nothing
    ranges += "{{range $.l}}";
    ends += "{{end}}";
  }
  EXPECT_NE(rendered(ranges + ends).find("the output is too long"), std::string::npos);
}

}  // namespace
}  // namespace slipway::cue
