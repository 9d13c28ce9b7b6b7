// docs/cue.md says what is so: its program compiles (it is the one below), and its command lines give what it shows.
#include <gtest/gtest.h>

#include "base/memory_files.h"
#include "cue/corpus_test.h"
#include "cue/cue.h"
#include "cue/load/command.h"
#include "cue/patch/patch.h"
#include "cue/schema.h"
#include "json/text.h"

namespace slipway::cue {
namespace {

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream in = testing::open_beside_sources(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// The fenced blocks of the document: "cue web.cue" → its lines.
std::vector<std::pair<std::string, std::vector<std::string>>> blocks() {
  std::vector<std::pair<std::string, std::vector<std::string>>> out;
  bool is_inside = false;
  for (const std::string& line : lines_of("docs/cue.md")) {
    if (line.starts_with("```")) {
      is_inside = !is_inside;
      if (is_inside) out.push_back({line.substr(3), {}});
    } else if (is_inside) {
      out.back().second.push_back(line);
    }
  }
  return out;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += line + "\n";
  return out;
}

// What follows, between the two lines, stands in docs/cue.md.
// example: begin
std::string deliver(const std::string& component, const std::string& trait, const json::Value& parameter) {
  // Once per definition; programs are immutable, and threads may share them.
  const cue::Packages packages = {{"vela/kube",
                                   {{"kube.cue",
                                     "package kube\n#Read: {#do: \"read\", #provider: \"kube\", $params: {name: string}, "
                                     "$returns?: {image: string}}\n"}}}};
  const cue::CompileOptions options = {.open_names = {"context", "parameter"}};
  auto web = cue::compile({{"web.cue", component}}, packages, options);
  auto scaler = cue::compile({{"scaler.cue", trait}}, packages, options);
  if (!web || !scaler) return cue::describe(web ? scaler.error() : web.error());

  // Once per render: holes take data, or values of an earlier evaluation.
  cue::Cursor root = cue::evaluate(*web, {{"parameter", parameter}, {"context.name", json::Value("shop")}});
  if (cue::Errors wrong = root.validate(cue::Demand::Valid); !wrong.empty()) return cue::describe(wrong);

  // What the template asks of providers, one call after another.
  for (std::vector<cue::Call> asked = cue::calls(root); !asked.empty(); asked.erase(asked.begin())) {
    const json::Value answer = json::object({{"image", asked[0].value.lookup("$params.name").as_string() + ":1.0"}});
    root = cue::fill(root, {{asked[0].path + ".$returns", answer}});
  }

  // A trait sees the workload as it is, perhaps incomplete, and patches it: values meet values.
  cue::Cursor workload = root.field("output");
  cue::Cursor change = cue::evaluate(*scaler, {{"parameter", json::object({{"replicas", 3}})}, {"context.output", workload}});
  auto patched = cue::apply_patch(workload, change.field("patch"), cue::patch_strategy(change.field("patch")));
  if (!patched) return cue::describe(patched.error());
  auto text = patched->to_json_text();
  return text ? *text : cue::describe(text.error());
}
// example: end

TEST(Documentation, of_the_library_is_a_program_that_compiles) {
  std::vector<std::string> shown;
  bool is_inside = false;
  for (const std::string& line : lines_of("src/cue/docs_test.cc")) {
    if (line == "// example: end") is_inside = false;
    if (is_inside) shown.push_back(line);
    if (line == "// example: begin") is_inside = true;
  }
  ASSERT_FALSE(shown.empty());
  std::map<std::string, std::string> named;
  for (const auto& [name, lines] : blocks()) named[name] = joined(lines);
  EXPECT_EQ(named["cpp"], joined(shown));
  EXPECT_EQ(deliver(named["cue component.cue"], named["cue trait.cue"], json::object({{"app", "nginx"}})) + "\n",
            named["json"]);
}

TEST(Documentation, of_the_command_line_shows_what_it_does) {
  MemoryFiles files;
  int ran = 0;
  for (const auto& [name, lines] : blocks()) {
    std::size_t space = name.find(' ');
    if (space != std::string::npos) ASSERT_TRUE(files.write("/" + name.substr(space + 1), joined(lines), 0644).has_value());
    if (name != "console") continue;
    for (std::size_t i = 0; i < lines.size();) {
      const std::string command = "$ slipway cue ";
      ASSERT_TRUE(lines[i].starts_with(command)) << lines[i];
      load::Invocation invocation;
      std::istringstream words(lines[i].substr(command.size()));
      for (std::string word; words >> word;) invocation.arguments.push_back(word);
      std::string expected;
      for (++i; i < lines.size() && !lines[i].starts_with("$ "); ++i) expected += lines[i] + "\n";
      load::Outcome outcome = load::run_command(files, invocation);
      EXPECT_EQ(outcome.output + outcome.errors, expected) << name << " " << invocation.arguments[0];
      EXPECT_EQ(outcome.code, outcome.errors.empty() ? 0 : 1);
      ++ran;
    }
  }
  EXPECT_GE(ran, 5);
}

}  // namespace
}  // namespace slipway::cue
