#include "cue/syntax/scanner.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "cue/corpus_test.h"
#include "cue/syntax/literal.h"

namespace slipway::cue {
namespace {

std::string words(std::string_view text) {
  Diagnostics diagnostics;
  Scanner scanner(text, 1, &diagnostics, nullptr);
  std::string out;
  for (Token token = scanner.next(); token.kind != Tok::Eof; token = scanner.next()) {
    out += std::string(name(token.kind)) + (token.kind == Tok::Ident ? "(" + std::string(token.text) + ")" : "") + " ";
  }
  for (const Diagnostic& one : diagnostics) out += "[" + one.message + "] ";
  return out;
}

TEST(Scanner, inserts_a_comma_at_the_end_of_a_line_that_may_end_a_declaration) {
  EXPECT_EQ(words("a: 1\nb: {\n}\n"), "IDENT(a) : INT , IDENT(b) : { } , ");
  EXPECT_EQ(words("a: 1 +\n 2 // c\n"), "IDENT(a) : INT + INT , ");
}

TEST(Scanner, keeps_raw_strings_and_nested_interpolations_whole) {
  EXPECT_EQ(words("#\"a\"b\"#"), "STRING , ");
  EXPECT_EQ(words("\"a\\(b"), "INTERPOLATION IDENT(b) , ");
  EXPECT_EQ(words("#\"\\(x)\"#"), "STRING , ");
}

TEST(Scanner, names_what_is_wrong) {
  EXPECT_EQ(words("\"abc"), "STRING , [string literal not terminated] ");
  EXPECT_EQ(words("0x"), "INT , [illegal hexadecimal number] ");
  EXPECT_EQ(words("`"), "ILLEGAL [illegal character U+0060 '`'] ");
  EXPECT_EQ(words("a..b"), "IDENT(a) . IDENT(b) , [illegal token '..'; expected '.'] ");
  EXPECT_EQ(words("\"\"\"\n\ta\\\n\t\"\"\""), "STRING , [unknown escape sequence] ");
  EXPECT_EQ(words("#\"\"\"#"), "STRING , [expected newline after multiline quote #\"\"\"] ");
  EXPECT_EQ(words("<-5"), "<- INT , ");
}

TEST(Scanner, attributes_hold_words_of_the_language) {
  EXPECT_EQ(words("@a(b=[c, {d: \"(\"}],\n@e(f))"), "ATTRIBUTE , ");
  EXPECT_EQ(words("@a(\"\\(b)\")").find("interpolation not allowed in attribute") != std::string::npos, true);
  EXPECT_EQ(words("@a(1_)"), "ATTRIBUTE , [illegal '_' in number] ");
  EXPECT_EQ(words("@a(^)"), "ATTRIBUTE , [illegal character U+005E '^'] ");
  EXPECT_EQ(words("@a(b // c)"), "ATTRIBUTE , [attribute missing ')'] ");
}

struct TokenName {
  Tok kind;
  const char* name;
};

constexpr TokenName kTokenNames[] = {
    {Tok::Add, "ADD"},
    {Tok::Sub, "SUB"},
    {Tok::Mul, "MUL"},
    {Tok::Quo, "QUO"},
    {Tok::And, "AND"},
    {Tok::Or, "OR"},
    {Tok::LAnd, "LAND"},
    {Tok::LOr, "LOR"},
    {Tok::Eql, "EQL"},
    {Tok::Lss, "LSS"},
    {Tok::Gtr, "GTR"},
    {Tok::Bind, "BIND"},
    {Tok::Not, "NOT"},
    {Tok::Neq, "NEQ"},
    {Tok::Leq, "LEQ"},
    {Tok::Geq, "GEQ"},
    {Tok::Mat, "MAT"},
    {Tok::NMat, "NMAT"},
    {Tok::LParen, "LPAREN"},
    {Tok::RParen, "RPAREN"},
    {Tok::LBrack, "LBRACK"},
    {Tok::RBrack, "RBRACK"},
    {Tok::LBrace, "LBRACE"},
    {Tok::RBrace, "RBRACE"},
    {Tok::Dot, "PERIOD"},
    {Tok::Colon, "COLON"},
    {Tok::Comma, "COMMA"},
    {Tok::Ellipsis, "ELLIPSIS"},
    {Tok::Option, "OPTION"},
    {Tok::Bottom, "BOTTOM"},
    {Tok::True, "TRUE"},
    {Tok::False, "FALSE"},
    {Tok::Null, "NULL"},
    {Tok::For, "FOR"},
    {Tok::In, "IN"},
    {Tok::If, "IF"},
    {Tok::Let, "LET"},
    {Tok::Func, "FUNC"},
    {Tok::Try, "TRY"},
    {Tok::Else, "ELSE"},
    {Tok::Tilde, "TILDE"},
    {Tok::Arrow, "ARROW"},
    {Tok::Eof, "EOF"},
    {Tok::Illegal, "ILLEGAL"},
    {Tok::Attribute, "ATTRIBUTE"},
    {Tok::Ident, "IDENT"},
    {Tok::Int, "INT"},
    {Tok::Float, "FLOAT"},
    {Tok::String, "STRING"},
    {Tok::Interpolation, "INTERPOLATION"},
};

const char* token_name(Tok kind) {
  const auto* at = std::ranges::find(kTokenNames, kind, &TokenName::kind);
  return at == std::end(kTokenNames) ? "?" : at->name;
}

TEST(Conformance, scanner_gives_every_word_of_the_table) {
  auto rows = testing::corpus_rows("gotables.jsonl");
  if (rows.empty()) GTEST_SKIP() << "skipped: corpus not found";
  testing::Suite suite("scanner");
  for (const json::Value& row : rows) {
    if (row["area"].as_string() != "scanner") continue;
    std::string text = testing::corpus_text(row["lit"]);
    std::vector<Comment> comments;
    Diagnostics diagnostics;
    Scanner scanner(text, 1, &diagnostics, &comments);
    Token token = scanner.next();
    bool is_comment = row["token"].as_string() == "COMMENT";
    std::string why;
    if (is_comment) {
      if (comments.size() != 1 || token.kind != Tok::Eof) why = "no comment";
    } else if (token_name(token.kind) != row["token"].as_string()) {
      why = std::string("got ") + token_name(token.kind);
    } else if (token.text != text) {
      why = "got text " + std::string(token.text);
    }
    suite.record(row["id"].str(), why);
  }
}

TEST(Conformance, literals_read_as_in_the_tables) {
  auto rows = testing::corpus_rows("gotables.jsonl");
  if (rows.empty()) GTEST_SKIP() << "skipped: corpus not found";
  testing::Suite suite("literals");
  for (const json::Value& row : rows) {
    std::string id = row["id"].str();
    std::string why;
    if (row["area"].as_string() == "literal") {
      std::string text = testing::corpus_text(row["literal"]);
      std::string got;
      bool failed = false;
      if (id.starts_with("num")) {
        auto number = parse_number(text);
        failed = !number;
        if (number) got = number->decimal;
      } else {
        auto string = unquote(text);
        failed = !string;
        if (string) got = string->value;
      }
      bool expects_failure = row.has("expect_error");
      if (failed != expects_failure) why = expects_failure ? "expected an error, got " + got : "error";
      if (why.empty() && !failed && got != testing::corpus_text(row["expect"])) why = "got " + got;
    } else {
      continue;
    }
    suite.record(id, why);
  }
}

/// "String", or {"call": "Bytes.WithTabIndent", "args": [3]}.
QuoteForm form_of(const json::Value& written) {
  auto call = json::parse(written.str());  // a call is written as JSON
  const json::Value form = call && call->is_object() ? *call : written;
  std::string name = form.is_string() ? form.str() : form["call"].str();
  QuoteForm out;
  out.is_bytes = name.starts_with("Bytes");
  out.is_ascii = name.ends_with("WithASCIIOnly");
  out.prefers_hashes = name.ends_with("WithOptionalHashes");
  if (name.ends_with("TabIndent")) out.tabs = static_cast<int>(form["args"].item(0).as_int());
  if (name == "WithOptionalHashes") out.tabs = 3;  // the row leaves out what it was called on
  out.is_multiline_optional = name.ends_with("WithOptionalTabIndent");
  return out;
}

TEST(Conformance, texts_are_quoted_as_in_the_table) {
  auto rows = testing::corpus_rows("gotables.jsonl");
  if (rows.empty()) GTEST_SKIP() << "skipped: corpus not found";
  testing::Suite suite("literal-quote");
  for (const json::Value& row : rows) {
    if (row["area"].as_string() != "literal-quote") continue;
    std::string got = quote(testing::corpus_text(row["value"]), form_of(row["form"]));
    suite.record(row["id"].str(), got == row["expect"].as_string() ? "" : "got " + got);
  }
}

}  // namespace
}  // namespace slipway::cue
