// What the commands say of arguments and files that are wrong, and what flags show.
#include "cue/load/command.h"

#include <gtest/gtest.h>

#include "base/memory_files.h"
#include "cue/load/arguments.h"

namespace slipway::cue::load {
namespace {

Outcome run_in(const std::vector<std::pair<std::string, std::string>>& sources, std::vector<std::string> arguments) {
  MemoryFiles files;
  for (const auto& [name, text] : sources) {
    (void)files.make_folders("/w/" + name.substr(0, name.rfind('/') + 1));
    (void)files.write("/w/" + name, text, 0644);
  }
  return run_command(files, {std::move(arguments), "/w", ""});
}

Outcome run(const std::string& name, const std::string& text, std::vector<std::string> arguments) {
  MemoryFiles files;
  (void)files.make_folders("/w/empty");
  (void)files.write("/w/" + name, text, 0644);
  return run_command(files, {std::move(arguments), "/w", ""});
}

std::string told(const std::vector<std::pair<std::string, std::string>>& sources, std::vector<std::string> arguments) {
  Outcome outcome = run_in(sources, std::move(arguments));
  return outcome.output + outcome.errors;
}

TEST(Command, each_verb_has_its_own_flags_and_two_dashes_end_them) {
  const std::vector<std::pair<std::string, std::string>> files = {{"x.cue", "a: 1\n"}, {"-y.cue", "b: 2\n"}};
  EXPECT_EQ(told(files, {"vet", "-e", "a", "x.cue"}), "unknown shorthand flag: 'e' in -e\n");
  EXPECT_EQ(told(files, {"vet", "--out", "json", "x.cue"}), "unknown flag: --out\n");
  EXPECT_EQ(told(files, {"export", "-c", "x.cue"}), "unknown shorthand flag: 'c' in -c\n");
  EXPECT_EQ(told(files, {"eval", "--escape", "x.cue"}), "unknown flag: --escape\n");
  EXPECT_EQ(told(files, {"eval", "--", "-y.cue"}), "b: 2\n");
  EXPECT_EQ(told(files, {"eval", "-e", "a", "-e", "a+1", "x.cue"}), "// a\n1\n// a+1\n2\n");
  EXPECT_EQ(told({{"l.cue", "a: [1] + [2]\n"}}, {"export", "--legacy", "--out", "json+compact", "l.cue"}), "{\"a\":[1,2]}\n");
}

TEST(Command, data_is_checked_against_a_schema_or_not_at_all) {
  const std::vector<std::pair<std::string, std::string>> files = {
      {"s.cue", "#D: {a: int}\n"},   {"one.yaml", "a: 1\n"},
      {"list.json", "[1]"},          {"twice.json", "\xEF\xBB\xBF{\"a\": 1, \"a\": 1}"},
      {"empty.yaml", "# nothing\n"}, {"two.yaml", "a: x\n---\na: 2\n"}};
  EXPECT_EQ(told(files, {"vet", "one.yaml"}), "data files specified without a schema\n");
  EXPECT_NE(told(files, {"vet", "s.cue", "list.json"}).find("conflicting values"), std::string::npos);
  EXPECT_EQ(told(files, {"vet", "-d", "#D", "s.cue", "twice.json"}), "");
  EXPECT_EQ(told(files, {"export", "s.cue", "empty.yaml"}), "{}\n");
  EXPECT_NE(told(files, {"vet", "-d", "#D", "s.cue", "empty.yaml"}).find("a: incomplete value int"), std::string::npos);
  EXPECT_EQ(told(files, {"export", "-d", "#D", "s.cue", "two.yaml"}).find("{"), std::string::npos);
  EXPECT_EQ(told(files, {"eval", "-e", "a", "one.yaml"}), "1\n");
}

TEST(Command, files_that_are_left_out_are_told_with_the_reason) {
  EXPECT_EQ(told({{"x_tool.cue", "a: 1\n"}}, {"eval", "x_tool.cue"}),
            "build constraints exclude all CUE files in command-line-arguments:\n    ./x_tool.cue: _tool.cue files excluded in "
            "non-cmd mode\n");
  EXPECT_EQ(told({{"x.cue", "@if(prod)\na: 1\n"}}, {"eval", "x.cue"}),
            "build constraints exclude all CUE files in command-line-arguments:\n    ./x.cue: @if(prod) did not match\n");
  EXPECT_EQ(told({{"x.cue", "@extern(embed)\npackage x\na: _ @embed(file=q.json)\n"}, {"q.json", "1"}}, {"eval", "x.cue"})
                .substr(0, 41),
            "cannot embed files when not in a module:\n");
}

TEST(Command, what_is_wrong_with_arguments_and_files_is_told_in_one_line) {
  struct Case {
    std::vector<std::string> arguments;
    std::string told;
  };
  const Case cases[] = {
      {{"eval", "--foo"}, "unknown flag: --foo\n"},
      {{"eval", "-e"}, "flag needs an argument: 'e' in -e\n"},
      {{"eval", "--errors=xml"}, "invalid argument \"xml\" for --errors: want json or text\n"},
      {{"eval", "-c=perhaps"}, "invalid argument \"perhaps\" for --concrete: want true or false\n"},
      {{"eval", "no.cue"}, "no such file or directory: no.cue\n"},
      {{"eval", "./empty"}, "no CUE files in ./empty\n"},
      {{"eval", "x.cue", "-e", "a +"}, "expected operand, found 'EOF':\n    --expression:1:4\n"},
      {{"eval", "--foo", "--errors=json"},
       "[{\"code\":\"usage\",\"path\":\"\",\"message\":\"unknown flag: --foo\",\"positions\":[]}]\n"},
  };
  for (const Case& one : cases) {
    Outcome outcome = run("x.cue", "a: 1\n", one.arguments);
    EXPECT_EQ(outcome.errors, one.told);
    EXPECT_EQ(outcome.code, 1);
    EXPECT_EQ(outcome.output, "");
  }
  EXPECT_EQ(run("x.cue",
                std::string("\x7f"
                            "ELF\0\1",
                            6),
                {"eval", "x.cue"})
                .errors,
            "./x.cue is a binary file, want CUE text\n");
  EXPECT_EQ(run("x.cue", "a: \xff\n", {"eval", "x.cue"}).errors, "illegal UTF-8 encoding:\n    ./x.cue:1:4\n");
}

const std::pair<std::string, std::string> kModule = {"cue.mod/module.cue",
                                                     "module: \"a.b/c\"\nlanguage: version: \"v0.14.0\"\n"};

TEST(Command, vendored_folders_make_one_package) {
  Outcome outcome = run_in({kModule,
                            {"cue.mod/pkg/x.org/v/v.cue", "package v\nA: 1\n"},
                            {"cue.mod/usr/x.org/v/u.cue", "package v\nA: int\nB: 2\n"},
                            {"c.cue", "package c\nimport \"x.org/v\"\na: v.A\nb: v.B\n"}},
                           {"eval"});
  EXPECT_EQ(outcome.output, "a: 1\nb: 2\n") << outcome.errors;
}

TEST(Command, imports_that_come_back_are_told_with_their_way) {
  Outcome outcome = run_in({kModule,
                            {"i/i.cue", "package i\nimport \"a.b/c/j\"\nx: j.y\n"},
                            {"j/j.cue", "package j\nimport \"a.b/c/i\"\ny: i.x\n"},
                            {"c.cue", "package c\nimport \"a.b/c/j\"\nx: j.y\n"}},
                           {"eval"});
  EXPECT_EQ(outcome.errors,
            "import failed: import failed: import failed: package import cycle not allowed:\n    ./c.cue:2:8\n"
            "    ./i/i.cue:2:8\n    ./j/j.cue:2:8\n");
}

TEST(Command, files_of_two_packages_are_not_one) {
  Outcome outcome = run_in({{"p.cue", "package p\na: 1\n"}, {"q.cue", "package q\nb: 1\n"}}, {"eval", "p.cue", "q.cue"});
  EXPECT_EQ(outcome.errors, "found packages \"p\" (p.cue) and \"q\" (q.cue) in \".\"\n");
}

TEST(Command, attributes_are_shown_when_asked_for) {
  const char* source =
      "package p\n@inner(a)\na: 1 @x()\nbbb: \"long\"\ncc: \"longer\" @y()\ndddd: 2 @z(1)\nh: {@own(), i: 4} @h()\ncc: string "
      "@w()\n";
  EXPECT_EQ(run("x.cue", source, {"eval", "x.cue"}).output, "a:    1\nbbb:  \"long\"\ncc:   \"longer\"\ndddd: 2\nh: i: 4\n");
  EXPECT_EQ(run("x.cue", source, {"eval", "-A", "x.cue"}).output,
            "@inner(a)\na:    1 @x()\nbbb:  \"long\"\ncc:   \"longer\" @y() @w()\ndddd: 2        @z(1)\n"
            "h: {\n    @own()\n    i: 4\n} @h()\n");
}

TEST(Command, or_of_nothing_is_not_known_yet) {
  EXPECT_EQ(run("x.cue", "none: []\nc: or(none)\n", {"eval", "x.cue"}).output, "none: []\nc:    or(none)\n");
  EXPECT_EQ(run("x.cue", "none: []\nc: or(none)\n", {"export", "x.cue"}).code, 1);
}

TEST(Command, usage_of_a_verb_lists_its_flags) {
  EXPECT_NE(usage("eval").find("-A, --show-attributes"), std::string::npos);
  EXPECT_EQ(usage("vet").find("--outfile"), std::string::npos);
  EXPECT_NE(usage("").find("slipway cue eval|export|vet"), std::string::npos);
}

}  // namespace
}  // namespace slipway::cue::load
