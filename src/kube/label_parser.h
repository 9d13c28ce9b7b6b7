// The query form of a label selector, as k8s.io/apimachinery/pkg/labels cuts and reads it: "a=b,c!=d,e in (f,g),!h,i>3".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "kube/selector.h"

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

/// In the order written. BadRequest with upstream's wording.
Result<std::vector<LabelSelector::Requirement>> parse_label_requirements(std::string_view text);

}  // namespace slipway::kube
