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
  EXPECT_NE(rendered("{{slice .l 1}}").find("function \"slice\" is not supported"), std::string::npos);
  EXPECT_NE(rendered("{{printf `%d` .n}}").find("printf with %d is not supported here"), std::string::npos);
}

TEST(Template, templates_are_defined_and_called) {
  EXPECT_EQ(rendered("{{define `x`}}<{{.}}{{$}}>{{end}}{{template `x` .n}}{{block `y` .l}}{{len .}}{{end}}"),
            R"({"a":"<bobbob>2"})");
  EXPECT_NE(rendered("{{template `no`}}").find("not defined"), std::string::npos);
  EXPECT_NE(rendered("{{define `x`}}{{template `x`}}{{end}}{{template `x`}}").find("exceeded maximum template depth"),
            std::string::npos);
}

TEST(Template, loops_are_left_and_gone_on_with) {
  EXPECT_EQ(rendered("{{range .l}}{{if eq . 2}}{{break}}{{end}}{{.}}{{end}}"), R"({"a":"1"})");
  EXPECT_EQ(rendered("{{range .l}}{{if eq . 1}}{{continue}}{{end}}{{.}}{{end}}{{range 3}}{{.}}{{end}}"), R"({"a":"2012"})");
  EXPECT_NE(rendered("{{break}}").find("{{break}} outside {{range}}"), std::string::npos);
}

TEST(Template, printf_has_widths_flags_and_precisions) {
  EXPECT_EQ(rendered("{{printf `%5d|%-5d|%05d|%+d|%x|%#X|%b|%U` 42 42 -42 5 255 255 5 65}}"),
            R"({"a":"   42|42   |-0042|+5|ff|0XFF|101|U+0041"})");
  EXPECT_EQ(rendered("{{printf `%6s|%-5s|%.2s|%8.3f|%t|%v%%` .n .n .n 1.5 true .l}}"),
            R"({"a":"   bob|bob  |bo|   1.500|true|[1 2]%"})");
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
