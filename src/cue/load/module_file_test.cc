#include "cue/load/module_file.h"

#include <gtest/gtest.h>

#include "cue/data/json_syntax.h"

namespace slipway::cue::load {
namespace {

std::string read(const std::string& text) {
  auto file = read_module_file(text, "./cue.mod/module.cue", "/w/cue.mod/module.cue");
  return file ? file->path + " " + file->language : describe(file.error());
}

TEST(ModuleFile, names_module_and_language) {
  EXPECT_EQ(read("module: \"a.b/c@v0\"\nlanguage: version: \"v0.14.0\"\n"), "a.b/c v0.14.0");
  EXPECT_EQ(read("// c\nmodule: \"a.b\"\nlanguage: {version: \"v0.8.0\"}\nsource: kind: \"git\"\ndescription: \"x\"\n"
                 "deps: \"x.y/z@v1\": {v: \"v1.2.3\", default: true}\ncustom: \"x.y\": z: 1\n"),
            "a.b v0.8.0");
}

TEST(ModuleFile, needs_a_language_version_that_is_known) {
  EXPECT_EQ(read("module: \"a.b/c\"\n"), "no language version declared in module.cue; run 'cue mod fix'\n");
  EXPECT_EQ(read("module: \"a.b/c\"\nlanguage: version: \"0.14.0\"\n"),
            "language version \"0.14.0\" in module.cue is not valid semantic version\n");
  EXPECT_EQ(read("module: \"a.b/c\"\nlanguage: version: \"v0.7.9\"\n"),
            "cannot find schema suitable for reading module file with language version \"v0.7.9\"\n");
  EXPECT_NE(read("module: \"a.b/c\"\nlanguage: version: \"v1.0.0\"\n").find("is too new for current language version"),
            std::string::npos);
  EXPECT_EQ(read("module: \"a.b/c\"\nlanguage: version: \"v0.14\"\n"),
            "invalid module file /w/cue.mod/module.cue: language version v0.14 is not canonical\n");
}

TEST(ModuleFile, is_data_of_known_fields) {
  EXPECT_EQ(read("module: \"a.b\" + \"/c\"\n"),
            "invalid module file syntax: expressions not allowed in data mode:\n    ./cue.mod/module.cue:1:9\n");
  EXPECT_EQ(read("module: _x\n#D: 1\n"),
            "invalid module file syntax: references not allowed in data mode:\n    ./cue.mod/module.cue:1:9\n"
            "invalid module file syntax: definitions not allowed in data mode:\n    ./cue.mod/module.cue:2:1\n");
  EXPECT_EQ(read("module \"a\"\n").substr(0, 28), "invalid module file syntax: ");
  EXPECT_NE(read("module: \"a.b/c\"\nlanguage: version: \"v0.14.0\"\nfoo: 1\n").find("foo: field not allowed"),
            std::string::npos);
  EXPECT_NE(read("module: 5\nlanguage: version: \"v0.14.0\"\n").find("module: conflicting values"), std::string::npos);
}

TEST(ModuleFile, has_a_path_with_a_dot_in_its_first_element) {
  auto path = [](const std::string& module) { return read("module: \"" + module + "\"\nlanguage: version: \"v0.14.0\"\n"); };
  const std::string begin = "invalid module file /w/cue.mod/module.cue: ";
  EXPECT_EQ(path(""), begin + "empty module path\n");
  EXPECT_EQ(path("c"), begin + "module path \"c\" is not valid: missing dot in first path element\n");
  EXPECT_EQ(path("A.b"), begin + "module path \"A.b\" is not valid: invalid char 'A'\n");
  EXPECT_EQ(path("a.b//c"), begin + "module path \"a.b//c\" is not valid: double slash\n");
  EXPECT_EQ(path("a.b/_c"), begin + "module path \"a.b/_c\" is not valid: leading '_' in path element\n");
  EXPECT_EQ(path("a.b@v1.2.3"), begin + "module path a.b@v1.2.3 should contain the major version only\n");
}

TEST(JsonSyntax, tells_where_and_why_a_text_is_not_json) {
  auto problem = [](std::string_view text) {
    auto found = json_problem(text);
    return found ? std::to_string(found->offset) + " " + found->message : "";
  };
  EXPECT_EQ(problem(" {\"a\": [1, -2.5e+3, \"\\u00e9\\n\"], \"a\": {}, \"b\": [], \"c\": null} \n"), "");
  EXPECT_EQ(problem("{\"a\": 1} x"), "9 invalid character 'x' after top-level value");
  EXPECT_EQ(problem("{\"a\": 1,}"), "8 invalid character '}' looking for beginning of object key string");
  EXPECT_EQ(problem("[1 2]"), "3 invalid character '2' after array element");
  EXPECT_EQ(problem("{\"a\" 1}"), "5 invalid character '1' after object key");
  EXPECT_EQ(problem("[1"), "1 unexpected end of JSON input");
  EXPECT_EQ(problem("01"), "1 invalid character '1' after top-level value");
  EXPECT_EQ(problem("tru"), "2 unexpected end of JSON input");
  EXPECT_EQ(problem("\"\\x41\""), "2 invalid character 'x' in string escape code");
  EXPECT_EQ(problem(std::string(100000, '[')), "99999 unexpected end of JSON input");
}

}  // namespace
}  // namespace slipway::cue::load
