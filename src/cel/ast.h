// The tree of a CEL expression. Macros that loop stay nodes of their own (they are not expanded into folds), && and || hold all
// their operands in one node. The checker writes into the nodes what the evaluator needs: which overloads a call may mean, what
// a name refers to.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cel/value.h"

namespace re2 {
class RE2;
}

namespace slipway::cel {

struct Overload;
struct Expr;
using ExprPtr = std::unique_ptr<Expr>;

enum class Form : std::uint8_t { Constant, Ident, Select, Call, List, Map, Struct, Macro };

/// The macros that loop over a list or map, and those that look into an optional.
enum class Macro : std::uint8_t {
  All,
  Exists,
  ExistsOne,
  Map,
  Filter,
  TransformList,
  TransformMap,
  TransformMapEntry,
  SortBy,
  OptMap,
  OptFlatMap
};

struct Expr {
  Form form = Form::Constant;
  std::size_t place = 0;            // byte offset in the text
  std::size_t depth = 1;            // nodes on the longest way down
  Value constant{};                 // Constant
  std::string name{};               // Ident, field of Select, function of Call, type of Struct
  ExprPtr target{};                 // Select, receiver of a Call, range of a Macro
  std::vector<ExprPtr> args{};      // Call; items of List; key, value, key, value … of Map; body parts of Macro
  std::vector<bool> is_optional{};  // of List items and Map entries: written with ?
  bool is_test = false;             // Select inside has()
  bool is_optional_select = false;  // a.?b
  Macro macro = Macro::All;
  std::vector<std::string> vars{};  // one or two names of a Macro; field names of a Struct

  // By the checker:
  bool is_local = false;  // Ident that a macro binds
  TypePtr type{};
  std::vector<const Overload*> overloads{};
  std::shared_ptr<const re2::RE2> regex{};  // of a constant pattern
};

}  // namespace slipway::cel
