// The order of files, fields and conjuncts says nothing: programs made at random, shuffled.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "cue/cue.h"

namespace slipway::cue {
namespace {

using OrderRandom = std::mt19937;

const char* pick(OrderRandom& random, const std::vector<const char*>& from) { return from[random() % from.size()]; }

/// Operands of one field: their meet is what counts.
std::vector<std::string> operands(OrderRandom& random, int depth) {
  std::vector<std::string> out;
  const std::size_t count = 1 + random() % 3;
  const bool is_struct = depth < 2 && random() % 3 == 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (!is_struct) {
      out.push_back(pick(random, {"int", "1", "2", ">0", "(*1 | int)", "(1 | 2 | 3)", "b0", "b1", "_", "number", "(c + 1)"}));
      continue;
    }
    std::string text = pick(random, {"{", "{", "#D & {"});
    for (const char* name : {"p", "q"}) {
      if (random() % 2 == 0) text += std::string(name) + ": " + operands(random, depth + 1).front() + ", ";
    }
    out.push_back(text + "}");
  }
  return out;
}

using Field = std::pair<std::string, std::vector<std::string>>;

// Sums refer to a field outside of what refers to itself: a cycle through a sum that comes out wrong is told at one of its
// fields or another, depending on where it was entered.
std::vector<Field> fields(OrderRandom& random) {
  std::vector<Field> out = {{"#D", {"{p?: int, q?: int | *5}"}}, {"c", {"1", "int"}}};
  for (int i = 0; i < 6; ++i) out.push_back({"b" + std::to_string(i), operands(random, 0)});
  out.push_back({"g", {"{if b0 != _|_ {there: b0}, if b0 == _|_ {gone: true}}"}});
  return out;
}

/// The same fields in another order, some in another file, conjuncts as operands or as declarations of their own.
std::vector<SourceText> shuffled(std::vector<Field> from, OrderRandom& random) {
  std::vector<SourceText> files = {{"a.cue", "package x\n"}, {"b.cue", "package x\n"}};
  std::shuffle(from.begin(), from.end(), random);
  for (Field& field : from) {
    std::shuffle(field.second.begin(), field.second.end(), random);
    std::string& text = files[random() % 2].text;
    text += field.first + ": ";
    for (std::size_t i = 0; i < field.second.size(); ++i) {
      const bool is_apart = random() % 2 == 0;
      if (i > 0) text += is_apart ? "\n" + field.first + ": " : " & ";
      text += field.second[i];
    }
    text += "\n";
  }
  if (random() % 2 == 0) std::swap(files[0], files[1]);
  return files;
}

std::string show(const Cursor& at) {
  const Kind kind = at.kind();
  if (kind == Kind::Struct) {
    std::vector<std::string> lines;
    for (const FieldCursor& one : at.fields()) lines.push_back(one.name + ":" + show(one.value));
    std::sort(lines.begin(), lines.end());
    std::string out = "{";
    for (const std::string& line : lines) out += line + ",";
    return out + "}";
  }
  if (kind == Kind::Bottom || kind == Kind::Open) return kind == Kind::Open ? "open" : "wrong";
  auto text = at.to_json_text();
  return text ? *text : "?";
}

/// Four orders of a program come to the same.
void expect_one_result(const std::vector<Field>& program, OrderRandom& random) {
  std::string first;
  for (int turn = 0; turn < 4; ++turn) {
    const std::vector<SourceText> files = shuffled(program, random);
    auto compiled = compile(files);
    ASSERT_TRUE(compiled.has_value()) << files[0].text << files[1].text << describe(compiled.error());
    const Cursor root = evaluate(*compiled);
    std::string result;
    for (const Field& field : program) result += field.first + "=" + show(root.field(field.first)) + " ";
    if (turn == 0) first = result;
    ASSERT_EQ(result, first) << files[0].text << files[1].text;
  }
}

TEST(Order, of_files_fields_and_conjuncts_never_changes_a_result) {
  OrderRandom random(7);
  for (int round = 0; round < 150; ++round) {
    const std::vector<Field> program = fields(random);
    ASSERT_NO_FATAL_FAILURE(expect_one_result(program, random)) << "round " << round;
  }
}

/// The conjuncts of a field that asks for those before it: guards, loops, names that are computed, definitions, embeddings,
/// patterns, disjunctions. What it asks for is below `index`, so that nothing goes round.
std::vector<std::string> asking(OrderRandom& random, int index) {
  auto other = [&] { return "f" + std::to_string(random() % static_cast<unsigned>(index)); };
  auto number = [&] { return std::string(pick(random, {"1", "2", "int", "(*1 | int)", "(1 | 2)", ">0"})); };
  std::vector<std::string> out;
  const std::size_t count = 1 + random() % 3;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string a = other();
    const std::string b = other();
    switch (random() % 12) {
      case 0:
        out.push_back("{if " + a + ".p != _|_ {p: " + a + ".p}, q: " + number() + "}");
        break;
      case 1:
        out.push_back("{if " + a + ".q == _|_ {r: \"none\"}, p?: int}");
        break;
      case 2:
        out.push_back("{for k, v in " + a + " {(k): v}}");
        break;
      case 3:
        out.push_back("{for k, v in " + a + " {\"x\\(k)\": k}}");
        break;
      case 4:
        out.push_back("{" + a + ", p: " + number() + "}");
        break;
      case 5:
        out.push_back(a + " & {p: " + b + ".p, ...}");
        break;
      case 6:
        out.push_back("#D & {q: " + number() + "}");
        break;
      case 7:
        out.push_back("{[=~\"^[pq]$\"]: " + number() + ", p: " + number() + "}");
        break;
      case 8:
        out.push_back("({p: 1, k: \"a\"} | *{p: 2, k: \"b\"})");
        break;
      case 9:
        out.push_back("{let one = " + a + ".p, q: one, s: \"p is \\(one)\"}");
        break;
      case 10:
        out.push_back("{l: [for v in [" + a + ".p, 3] if v > 1 {v}], p: " + number() + "}");
        break;
      default:
        out.push_back("(null | {t: {if " + a + ".t != _|_ {" + a + ".t}, p: " + number() + "}})");
    }
  }
  return out;
}

TEST(Order, of_what_asks_for_others_never_changes_a_result) {
  OrderRandom random(11);
  for (int round = 0; round < 200; ++round) {
    std::vector<Field> program = {{"#D", {"{p?: int, q?: int | *5, t?: {...}}"}}, {"f0", {"{p: int, q: *1 | int}", "{p: 2}"}}};
    for (int i = 1; i < 6; ++i) program.push_back({"f" + std::to_string(i), asking(random, i)});
    ASSERT_NO_FATAL_FAILURE(expect_one_result(program, random)) << "round " << round;
  }
}

}  // namespace
}  // namespace slipway::cue
