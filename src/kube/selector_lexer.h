// The words of the query form of a label selector, as k8s.io/apimachinery/pkg/labels cuts them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace slipway::kube {

enum class TokenKind {
  End,
  Error,
  Identifier,
  Comma,
  Open,
  Close,
  DoesNotExist,
  Equals,
  DoubleEquals,
  NotEquals,
  GreaterThan,
  LessThan,
  In,
  NotIn
};

struct LabelToken {
  TokenKind kind = TokenKind::End;
  std::string text;  // as written; of an Error the complaint
};

/// Ends with one End. A NUL byte ends the text, as upstream.
std::vector<LabelToken> lex_label_selector(std::string_view text);

}  // namespace slipway::kube
