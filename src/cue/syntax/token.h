// The words of the language.
#pragma once

#include <cstdint>
#include <string_view>

#include "cue/syntax/source.h"

namespace slipway::cue {

enum class Tok : std::uint8_t {
  Illegal,
  Eof,
  Comma,  // also the one a newline stands for: then `text` is "\n"
  Attribute,
  Ident,
  Int,
  Float,
  String,         // a whole string or bytes literal, delimiters included
  Interpolation,  // the part of a string before "\(", with that
  Bottom,
  Add,
  Sub,
  Mul,
  Quo,
  And,
  Or,
  LAnd,
  LOr,
  Not,
  Eql,
  Neq,
  Lss,
  Leq,
  Gtr,
  Geq,
  Mat,
  NMat,
  Bind,
  Colon,
  Dot,
  Ellipsis,
  Option,
  Arrow,   // "=>", reserved
  LArrow,  // "<-", reserved: "<-5" is no bound
  Tilde,
  LParen,
  RParen,
  LBrack,
  RBrack,
  LBrace,
  RBrace,
  True,
  False,
  Null,
  For,
  In,
  If,
  Let,
  Func,
  Try,
  Else,
};

/// As diagnostics name it, e.g. "IDENT", "{".
std::string_view name(Tok tok);

struct Token {
  Tok kind = Tok::Eof;
  Pos pos = 0;
  std::string_view text;
  Pos end() const { return pos + static_cast<Pos>(text.size()); }
};

inline bool is_keyword(Tok tok) { return tok >= Tok::True; }

struct Comment {
  Pos pos = 0;
  std::string_view text;  // with the "//", without the newline
};

}  // namespace slipway::cue
