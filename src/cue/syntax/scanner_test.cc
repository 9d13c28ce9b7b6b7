#include "cue/syntax/scanner.h"

#include <gtest/gtest.h>

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
  EXPECT_EQ(words("`"), "ILLEGAL [illegal character] ");
}

const char* token_name(Tok kind) {
  switch (kind) {
    case Tok::Add:
      return "ADD";
    case Tok::Sub:
      return "SUB";
    case Tok::Mul:
      return "MUL";
    case Tok::Quo:
      return "QUO";
    case Tok::And:
      return "AND";
    case Tok::Or:
      return "OR";
    case Tok::LAnd:
      return "LAND";
    case Tok::LOr:
      return "LOR";
    case Tok::Eql:
      return "EQL";
    case Tok::Lss:
      return "LSS";
    case Tok::Gtr:
      return "GTR";
    case Tok::Bind:
      return "BIND";
    case Tok::Not:
      return "NOT";
    case Tok::Neq:
      return "NEQ";
    case Tok::Leq:
      return "LEQ";
    case Tok::Geq:
      return "GEQ";
    case Tok::Mat:
      return "MAT";
    case Tok::NMat:
      return "NMAT";
    case Tok::LParen:
      return "LPAREN";
    case Tok::RParen:
      return "RPAREN";
    case Tok::LBrack:
      return "LBRACK";
    case Tok::RBrack:
      return "RBRACK";
    case Tok::LBrace:
      return "LBRACE";
    case Tok::RBrace:
      return "RBRACE";
    case Tok::Dot:
      return "PERIOD";
    case Tok::Colon:
      return "COLON";
    case Tok::Comma:
      return "COMMA";
    case Tok::Ellipsis:
      return "ELLIPSIS";
    case Tok::Option:
      return "OPTION";
    case Tok::Bottom:
      return "BOTTOM";
    case Tok::True:
      return "TRUE";
    case Tok::False:
      return "FALSE";
    case Tok::Null:
      return "NULL";
    case Tok::For:
      return "FOR";
    case Tok::In:
      return "IN";
    case Tok::If:
      return "IF";
    case Tok::Let:
      return "LET";
    case Tok::Func:
      return "FUNC";
    case Tok::Try:
      return "TRY";
    case Tok::Else:
      return "ELSE";
    case Tok::Tilde:
      return "TILDE";
    case Tok::Arrow:
      return "ARROW";
    case Tok::Eof:
      return "EOF";
    case Tok::Illegal:
      return "ILLEGAL";
    case Tok::Attribute:
      return "ATTRIBUTE";
    case Tok::Ident:
      return "IDENT";
    case Tok::Int:
      return "INT";
    case Tok::Float:
      return "FLOAT";
    case Tok::String:
      return "STRING";
    case Tok::Interpolation:
      return "INTERPOLATION";
  }
  return "?";
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
    } else if (row["area"].as_string() == "literal-quote") {
      std::string text = testing::corpus_text(row["value"]);
      std::string form = row["form"].str();
      std::string got = form == "String" ? quote(text) : form == "Bytes" ? quote_bytes(text) : "unsupported form " + form;
      if (got != row["expect"].as_string()) why = "got " + got;
    } else {
      continue;
    }
    suite.record(id, why);
  }
}

}  // namespace
}  // namespace slipway::cue
