// What evaluations cost, in steps and bytes rather than in time: shapes that are known to explode in other engines, nesting
// that overflows stacks, and memory over many renders.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <functional>

#include "cue/corpus_test.h"
#include "cue/evaluation.h"

namespace slipway::cue {
namespace {

Program compiled_with_options(const std::string& text, const CompileOptions& options = {}) {
  auto program = compile({{"x.cue", text}}, {}, options);
  EXPECT_TRUE(program.has_value()) << text.substr(0, 300) << (program ? "" : describe(program.error()));
  return *program;
}

std::uint64_t steps_of(const std::string& text) {
  Cursor root = evaluate(compiled_with_options(text));
  EXPECT_TRUE(root.validate().empty()) << text.substr(0, 300) << describe(root.validate());
  return root.evaluation()->evaluator().steps();
}

/// `count` times what `part` gives, with `between` between.
std::string times(int count, const char* between, const std::function<std::string(int)>& part) {
  std::string out;
  for (int i = 0; i < count; ++i) out += (i > 0 ? between : "") + part(i);
  return out;
}
std::string n(int i) { return std::to_string(i); }

std::string nested(int depth, const char* open, const char* core, const char* close) {
  return times(depth, "", [&](int) { return open; }) + core + times(depth, "", [&](int) { return close; });
}

struct Shape {
  const char* name;
  int size;
  std::function<std::string(int)> text;
};

void expect_no_explosion(const std::vector<Shape>& shapes) {
  for (const Shape& shape : shapes) {
    std::uint64_t before = steps_of(shape.text(shape.size));
    for (int size : {2 * shape.size, 4 * shape.size}) {
      std::uint64_t after = steps_of(shape.text(size));
      EXPECT_LE(static_cast<double>(after), 4.5 * static_cast<double>(before)) << shape.name << " of " << size;
      before = after;
    }
  }
}

TEST(Cost, disjunctions_of_one_value_are_not_multiplied_out) {
  auto cross = [](const char* open, const char* close) {
    return [=](int size) {
      auto one = [=](int i) {
        return std::string("(") + open + "{a" + n(i) + ": 1, b" + n(i) + ": int} | {a" + n(i) + ": 2, b" + n(i) + ": string}" +
               close + ")";
      };
      return "x: " + times(size, " & ", one) + " & {" +
             times(size, ", ", [](int i) { return "a" + n(i) + ": " + n(1 + i % 2); }) + "}\n";
    };
  };
  auto itself = [](const char* name, const char* chosen) {
    return [=](int size) {
      return std::string(name) + ": {a: string} | {b: string} | {c: int}\nx: " + times(size, " & ", [&](int) { return name; }) +
             chosen + "\n";
    };
  };
  expect_no_explosion({{"structs told apart by a field", 8, cross("", "")},
                       {"structs in braces", 8, cross("{", "}")},
                       {"nothing but optional fields", 6,
                        [](int size) { return "x: " + times(size, " & ", [](int) { return "({a?: 1} | {b?: 1})"; }) + "\n"; }},
                       {"with itself", 8, itself("#D", " & {a: \"x\"}")},
                       {"with itself, undecided", 8, itself("D", "")},
                       {"with itself, closed and undecided", 8, itself("#D", "")},
                       {"defaults beside each other", 40,
                        [](int size) {
                          return "x: {" + times(size, ", ", [](int i) { return "a" + n(i) + ": *1 | int"; }) +
                                 "}\ny: x & {a0: 5}\n";
                        }},
                       {"in the items of a list", 20, [](int size) {
                          return "#T: {a: int} | {b: int}\nx: [...#T]\nx: [" +
                                 times(size, ", ", [](int i) { return i % 2 == 0 ? "{a: 1}" : "{b: 1}"; }) + "]\n";
                        }}});
}

TEST(Cost, recursive_disjunctions_do_not_try_every_combination) {
  auto tree = [](const char* declaration, const char* open, const char* core) {
    return [=](int depth) { return std::string(declaration) + "\nx: #T & " + nested(depth, open, core, "}") + "\n"; };
  };
  expect_no_explosion(
      {{"leaf or struct", 8, tree("#T: \"leaf\" | {c: #T}", "{c: ", "\"leaf\"")},
       {"leaf or struct, in braces", 8, tree("#T: {\"leaf\" | {c: #T}}", "{c: ", "\"leaf\"")},
       {"by kind", 8, tree("#T: {kind: \"leaf\"} | {kind: \"node\", c: #T}", "{kind: \"node\", c: ", "{kind: \"leaf\"}")},
       {"by kind, in braces", 8,
        tree("#T: {{kind: \"leaf\"} | {kind: \"node\", c: #T}}", "{kind: \"node\", c: ", "{kind: \"leaf\"}")},
       {"optional", 6, tree("#T: {a?: #T} | {b?: #T}", "{a: ", "{}")},
       {"optional, in braces", 6, tree("#T: {{a?: #T} | {b?: #T}}", "{a: ", "{}")},
       {"nothing known, many fields", 5, [](int size) {
          return "#T: {h: int, " + times(size, ", ", [](int i) { return "a" + n(i) + ": null | #T"; }) + "}\nx: #T & {h: 1}\n";
        }}});
}

TEST(Cost, closedness_grows_with_what_is_written) {
  auto fields = [](int size) { return times(size, ", ", [](int i) { return "a" + n(i) + ": " + n(i); }); };
  expect_no_explosion(
      {{"definitions that embed each other", 20,
        [&](int size) {
          auto one = [](int i) { return "#A" + n(i + 1) + ": {#A" + n(i) + ", a" + n(i + 1) + ": int}\n"; };
          return "#A0: {a0: int}\n" + times(size - 1, "", one) + "x: #A" + n(size - 1) + " & {" + fields(size) + "}\n";
        }},
       {"definitions that meet", 10,
        [&](int size) {
          std::string optional = times(size, ", ", [](int i) { return "a" + n(i) + "?: int"; });
          return times(size, "", [&](int i) { return "#A" + n(i) + ": {" + optional + "}\n"; }) +
                 "x: " + times(size, " & ", [](int i) { return "#A" + n(i); }) + " & {" + fields(size) + "}\n";
        }},
       {"a definition inside itself", 40,
        [](int size) { return "#A: {z?: int, f?: #A}\nx: #A & " + nested(size, "{f: ", "{z: 1}", "}") + "\n"; }},
       {"one deep definition", 40, [](int size) {
          return "#A: {" + nested(size, "f?: {", "z?: int", "}") + "}\nx: #A & " + nested(size, "{f: ", "{z: 1}", "}") + "\n";
        }}});
}

// Each level names the two of the one before, as `one` says: {0} and {1} are theirs, {2} is the level.
TEST(Cost, what_is_met_on_many_ways_is_there_once) {
  auto lattice = [](const std::string& sigil, const char* start, const char* a, const char* b, const char* end) {
    return [=](int size) {
      auto name = [&](char which, int level) { return sigil + which + n(level); };
      auto one = [&](const char* format, int level) {
        return fmt::format(fmt::runtime(format), name('A', level), name('B', level), level + 1) + "\n";
      };
      std::string out = name('A', 0) + ": " + start + "\n" + name('B', 0) + ": " + start + "\n";
      for (int i = 0; i < size; ++i) out += name('A', i + 1) + ": " + one(a, i) + name('B', i + 1) + ": " + one(b, i);
      return out + "x: " + fmt::format(fmt::runtime(end), name('A', size)) + "\n";
    };
  };
  const char* kStart = "{a?: int}";
  const char* kEnd = "{} & {{a: 1}}";
  expect_no_explosion({{"definitions", 6, lattice("#", kStart, "{} & {}", "{} & {}", kEnd)},
                       {"definitions in braces", 6, lattice("#", kStart, "{{{0}, {1}}}", "{{{0}, {1}}}", kEnd)},
                       {"definitions and optional fields", 6,
                        lattice("#", kStart, "{{{0}, {1}, a{2}?: int}}", "{{{0}, {1}, b{2}?: int}}", kEnd)},
                       {"no definitions", 6, lattice("", kStart, "{} & {}", "{} & {}", kEnd)},
                       {"no definitions, in braces", 6, lattice("", kStart, "{{{0}, {1}}}", "{{{0}, {1}, b{2}: 1}}", kEnd)},
                       {"fields of definitions", 6, lattice("#", kStart, "f: {} & {}", "f: {} & {}", "{}")},
                       {"definitions with fields", 6,
                        lattice("#", "{f: a?: int}", "{} & {} & {{f: {{}}}}", "{{{0} & {1}, f: {{}}}}", "{} & {{f: a: 1}}")},
                       {"guards", 6, lattice("#", kStart, "{{if true {{{0} & {1}}}}}", "{{if true {{{0}}}, {1}}}", kEnd)},
                       {"closed structs", 6, lattice("", "close({a?: int})", "{} & {}", "{{{0}, {1}}}", kEnd)},
                       {"patterns", 6, lattice("#", "{[=~\"a\"]: int}", "{} & {}", "{{{0}, {1}, [=~\"a{2}\"]: int}}", kEnd)},
                       {"lists", 6, lattice("#", "[...{a?: int}]", "{} & {}", "{} & {}", "{} & [{{a: 1}}]")}});
}

TEST(Cost, chains_of_references_grow_with_their_length) {
  auto chain = [](const std::function<std::string(const std::string&, int)>& one) {
    return [one](int size) {
      return "a0: {x: 1}\n" + times(size, "", [&](int i) { return "a" + n(i + 1) + ": " + one("a" + n(i), i + 1) + "\n"; });
    };
  };
  expect_no_explosion(
      {{"shared, twice each", 40, chain([](const std::string& a, int) { return "{l: " + a + ", r: " + a + "}"; })},
       {"one more field each", 20, chain([](const std::string& a, int i) { return a + " & {x" + n(i) + ": 1}"; })},
       {"embedded, one more field each", 20,
        chain([](const std::string& a, int i) { return "{" + a + ", x" + n(i) + ": 1}"; })},
       {"met with itself", 20, chain([](const std::string& a, int) { return a + " & " + a + " & {}"; })},
       {"embedded twice", 20, chain([](const std::string& a, int) { return "{" + a + ", " + a + "}"; })},
       {"sums, the last first", 40,
        [](int size) {
          return times(size, "", [size](int i) { return "a" + n(size - i) + ": a" + n(size - i - 1) + " + 1\n"; }) + "a0: 1\n";
        }},
       {"guards on guards", 20,
        [](int size) {
          auto one = [](int i) { return "if x.a" + n(i) + " != _|_ {a" + n(i + 1) + ": 1}\n"; };
          return "x: {a0: 1\n" + times(size, "", one) + "}\n";
        }},
       {"guards on guards, the last first", 10, [](int size) {
          auto one = [size](int i) { return "if x.a" + n(size - i - 1) + " != _|_ {a" + n(size - i) + ": 1}\n"; };
          return "x: {" + times(size, "", one) + "a0: 1}\n";
        }}});
}

TEST(Cost, an_enumeration_may_have_thousands_of_words) {
  auto words = [](int size) { return times(size, " | ", [](int i) { return "\"a" + n(i) + "\""; }); };
  auto fields = [](int size, const char* before) {
    return times(size, "\n", [=](int i) { return "y" + n(i) + ": " + before + "\"a" + n(i * 7 % size) + "\""; });
  };
  expect_no_explosion(
      {{"alone", 1000, [&](int size) { return "#x: " + words(size) + "\n"; }},
       {"one of it", 1000, [&](int size) { return "#x: " + words(size) + "\ny: #x & \"a77\"\n"; }},
       {"the type of many fields", 250, [&](int size) { return "#x: " + words(size) + "\n" + fields(size, "#x & ") + "\n"; }},
       {"a pattern of many", 250,
        [&](int size) { return "#x: " + words(size) + "\n[string]: #x\n" + fields(size, "") + "\n"; }},
       {"narrowed to strings", 250,
        [&](int size) {
          return "#x: *\"a1\" | " + words(size) + "\n" + times(size, "\n", [](int i) { return "y" + n(i) + ": #x & string"; }) +
                 "\n";
        }},
       {"met with another", 500, [&](int size) { return "#x: (" + words(size) + ") & (\"b\" | " + words(size) + ")\n"; }}});
}

// The comparator is one expression, evaluated as often as items are compared; what it compares stays as it is.
TEST(Cost, sorting_compares_items_where_they_are) {
  auto sorted = [](const char* comparator) {
    return [=](int size) {
      return "import \"list\"\nx: list.Sort([" + times(size, ", ", [](int i) { return "{n: " + n(i * 7 % 10) + "}"; }) + "], " +
             comparator + ")\n";
    };
  };
  expect_no_explosion({{"by a field", 50, sorted("{x: _, y: _, less: x.n < y.n}")},
                       {"by what is made of a field", 50, sorted("{x: _, y: _, let X = x.n * 2, less: X < y.n * 2}")}});
  auto unifications = [&](int size) {
    Cursor root = evaluate(compiled_with_options(sorted("{x: _, y: _, less: x.n < y.n}")(size)));
    return root.evaluation()->evaluator().unifications();
  };
  EXPECT_LE(unifications(200), 4 * 200 + 20u);
}

// A plain reference is a walk: what is not there is no error that has to be built.
TEST(Cost, asking_whether_a_reference_is_there_builds_no_error) {
  std::string text = "parameter: {image: string, port?: int, limit?: {cpu?: string}, env!: string}\nout: {\n";
  for (const char* path : {"port", "limit.cpu", "env", "nothing.at.all"}) {
    text += std::string("\tif parameter.") + path + " != _|_ {\"" + path + "\": true}\n";
    text += std::string("\tif parameter.") + path + " == _|_ {\"no \\(\"" + path + "\")\": true}\n";
  }
  Program program = compiled_with_options(text + "}\n");
  Cursor root = evaluate(program, {{"parameter", json::object({{"image", "a"}})}});
  EXPECT_EQ(root.evaluation()->evaluator().errors_made(), 0u);
  auto out = root.field("out").to_json_text();
  ASSERT_TRUE(out.has_value()) << describe(out.error());
  EXPECT_EQ(*out, R"({"no port":true,"no limit.cpu":true,"no env":true,"no nothing.at.all":true})");
}

TEST(Cost, a_budget_names_the_path_and_is_the_same_every_time) {
  Program program = compiled_with_options(
      "l: [1,2,3,4,5,6,7,8,9,10]\na: b: [for x in l for y in l for z in l {x*y*z}]\nc: {d: \"\\(len(a.b))\"}");
  std::string first;
  for (int i = 0; i < 3; ++i) {
    Errors errors = evaluate(program, {}, {.max_steps = 700}).validate();
    ASSERT_FALSE(errors.empty());
    EXPECT_TRUE(errors[0].path.starts_with("a.b")) << describe(errors);
    if (i == 0) first = describe(errors);
    EXPECT_EQ(describe(errors), first);
  }
  Errors errors = evaluate(program, {}, {.max_bytes = 100'000}).validate();
  ASSERT_FALSE(errors.empty());
  EXPECT_FALSE(errors[0].path.empty());
}

// What a field of the same struct says is not data that a structure could go on along.
TEST(Cost, what_says_the_same_again_at_each_level_leads_no_deeper) {
  for (const char* text :
       {"a: b & {v: null | a, m: a}\nb: a & {m: 1}\nd: a & {n: 1}", "a: b & {v?: a, m: a}\nb: a & {m: 1}\nd: a & {v: {n: 1}}",
        "a: b & {m: a}\nb: a & {m: 1}\nd: a & {n: 1}"}) {
    Cursor root = evaluate(compiled_with_options(text), {}, {.max_steps = 3000});
    Errors errors = root.validate();
    ASSERT_GE(errors.size(), 3u) << describe(errors);
    for (const Error& one : errors) EXPECT_TRUE(one.message.starts_with("conflicting values")) << describe(errors);
  }
}

// The long form is CUE_SOAK_RENDERS=1000000 out/release/slipway_bench --only cue.
TEST(Cost, renders_leave_nothing_behind) {
  Program web = compiled_with_options(
      "parameter: {image: string, ports: [...{port: int, name: *\"p\\(port)\" | string}]}\n"
      "output: {image: parameter.image, ports: [for p in parameter.ports if p.port > 1 {p}]}");
  Program wrong = compiled_with_options(
      "parameter: {image: int}\n#D: {a: int}\nx: #D & {b: 1}\ny: [for i in parameter.ports {(i.port): 1}]");
  const json::Value parameter =
      json::object({{"image", "nginx"}, {"ports", json::array({json::object({{"port", 80}}), json::object({{"port", 1}})})}});
  auto render = [&](int i) {
    Cursor root = evaluate(i % 3 == 0 ? wrong : web, {{"parameter", parameter}});
    root.validate();
    auto output = root.field("output").to_json_text();
    return root.evaluation()->evaluator().arena().used_bytes();
  };
  const std::size_t first[] = {render(0), render(1)};
  for (int i = 0; i < 50; ++i) render(i);
  const std::size_t before = mallinfo2().uordblks;
  for (int i = 0; i < 2000; ++i) ASSERT_EQ(render(i % 2 == 0 ? 3 : 1), first[i % 2]) << i;
  EXPECT_LE(mallinfo2().uordblks, before + 1024);
}

// Whatever is nested, however deep, every pass over it ends in a value or an error.
TEST(Cost, no_nesting_overflows_the_stack) {
  constexpr int kDeep = 100'000;
  const std::string texts[] = {
      "x: " + nested(kDeep, "(", "1", ")"),
      "x: " + nested(kDeep, "[", "1", "]"),
      "x: " + nested(kDeep, "{a: ", "1", "}"),
      "x: " + nested(kDeep, "\"\\(", "1", ")\""),
      "x: " + nested(kDeep, "-", "1", ""),
      "x: " + nested(kDeep, "len(", "1", ")"),
      "x: " + nested(kDeep, "a: ", "1", ""),
      "x: " + nested(kDeep, "1 + ", "1", ""),
      "x: " + nested(kDeep, "1 | ", "2", ""),
      "x: " + nested(kDeep, "{} & ", "{}", ""),
      "x: " + nested(kDeep, "[", "1", "][0]"),
      "x: {}\ny: x" + nested(kDeep, ".a", "", ""),
      "x: [" + nested(kDeep, "for a in [1] ", "{a}", "") + "]",
      "x: {" + nested(kDeep, "if true ", "{a: 1}", "") + "}",
      "x: {" + nested(kDeep, "if true {", "a: 1", "}") + "}",
      nested(kDeep, "// a comment\n", "x: 1", ""),
      "x: " + nested(900, "{a: ", "1", "}"),
      "x: " + nested(900, "[", "1", "]"),
      "x: " + nested(900, "[...", "1", "]"),
      "x: " + nested(900, "\"\\(", "1", ")\""),
      "x: " + nested(900, "{if true {", "1", "}}"),
      "#A: {a: #A}\nx: #A",
      "#A: {a?: #A}\nx: #A & " + nested(700, "{a: ", "{}", "}"),
      "f: {in: _, out: {f & {in: 1}}.out}",
      "a0: 1\n" + times(2000, "", [](int i) { return "a" + n(i + 1) + ": a" + n(i) + "\n"; }),
      "a0: 1\n" + times(2000, "", [](int i) { return "a" + n(2000 - i) + ": a" + n(1999 - i) + "+1\n"; }),
      "a0: 1\n" + times(20'000, "", [](int i) { return "a" + n(20'000 - i) + ": a" + n(19'999 - i) + "+1\n"; }),
      "a0: 1\n" + times(1500, "", [](int i) { return "a" + n(i + 1) + ": x: a" + n(i) + "\n"; }),
      "a0: 1\n" + times(1500, "", [](int i) { return "a" + n(1500 - i) + ": x: a" + n(1499 - i) + "\n"; }),
  };
  for (const std::string& text : texts) {
    SCOPED_TRACE(text.substr(0, 40));
    auto program = compile({{"x.cue", text}});
    if (!program) continue;
    Cursor root = evaluate(*program, {}, {.max_steps = 50'000});
    root.validate(Demand::Valid);
    root.validate(Demand::Concrete);
    root.to_json();
    root.to_json_text();
    root.to_yaml();
    root.to_cue();
    calls(root);
    evaluate(*program, std::vector<Hole>{{"x", root.field("x")}}, {.max_steps = 50'000});
  }
}

// What was written out is as long as it is, whichever end comes first.
TEST(Cost, chains_as_long_as_anybody_writes_them_come_to_a_value) {
#if __has_feature(thread_sanitizer)  // its stacks are small
  constexpr int kLong = 900;
#else
  constexpr int kLong = 10'000;
#endif
  auto last_first = [](const char* before, const char* behind, const char* first) {
    return times(kLong, "",
                 [&](int i) { return "a" + n(kLong - i) + ": " + before + "a" + n(kLong - i - 1) + behind + "\n"; }) +
           "a0: " + first + "\n";
  };
  const std::pair<std::string, std::string> chains[] = {
      {last_first("", "", "1"), "1"},
      {last_first("", " + 1", "0"), n(kLong)},
      {last_first("\"\\(", ")\"", "\"x\""), "\"x\""},
      {last_first("x: ", ".x", "x: 1"), "{\"x\":1}"},
      {last_first("{if ", ".x {x: true}}", "x: true"), "{\"x\":true}"},
  };
  for (const auto& [text, result] : chains) {
    Cursor last = evaluate(compiled_with_options(text)).field("a" + n(kLong));
    auto got = last.to_json_text();
    ASSERT_TRUE(got.has_value()) << text.substr(0, 60) << describe(got.error());
    EXPECT_EQ(*got, result) << text.substr(0, 60);
  }
}

// Their unifications are vertices that were begun. A step here is finer: a conjunct inserted, an expression evaluated or a
// field looked up; what can be compared are vertices.
TEST(Cost, steps_stay_near_the_unifications_of_the_reference) {
  auto rows = testing::corpus_rows("evaltree.jsonl");
  if (rows.empty()) GTEST_SKIP() << "no corpus";
  std::uint64_t ours = 0;
  std::uint64_t theirs = 0;
  std::vector<std::pair<double, std::string>> worst;
  for (const json::Value& row : rows) {
    std::vector<SourceText> files;
    for (auto [name, text] : row["files"].members()) {
      if (name.ends_with(".cue") && name.find('/') == std::string_view::npos) files.push_back({std::string(name), text.str()});
    }
    auto recorded = row["ref_stats"]["Unifications"].as_int();
    auto program = compile(files);
    if (!program || recorded <= 0) continue;
    Cursor root = evaluate(*program, {}, {.max_steps = 1'000'000});
    Evaluator& evaluator = root.evaluation()->evaluator();
    ours += evaluator.unifications();
    theirs += static_cast<std::uint64_t>(recorded);
    worst.push_back({static_cast<double>(evaluator.unifications()) / static_cast<double>(recorded), row["id"].str()});
  }
  std::sort(worst.rbegin(), worst.rend());
  auto is_near = [](const auto& one) { return one.first <= 3; };
  auto near = static_cast<std::size_t>(std::count_if(worst.begin(), worst.end(), is_near));
  std::cout << "cost: " << near << "/" << worst.size() << " archives within 3 times the reference; " << ours
            << " vertices, the reference " << theirs << "; worst";
  for (std::size_t i = 0; i < worst.size() && (i < 8 || worst[i].first > 3); ++i)
    std::cout << " " << worst[i].second << " " << worst[i].first;
  std::cout << std::endl;
  // What is missing: or() over very many words inside matchIf, and comparing structs written in place.
  EXPECT_GE(near * 100, worst.size() * 98);
}

}  // namespace
}  // namespace slipway::cue
