// The functions and operators of CEL by name: the standard library, and the extension libraries that Kubernetes offers to rules
// (strings, lists, sets, regex, urls, ip and cidr, quantity, format, semver). A function is one row in the table of its file.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cel/value.h"

namespace re2 {
class RE2;
}

namespace slipway::cel {

/// What an evaluation may still do. Once exhausted it stays so, and every step fails.
class Budget {
 public:
  explicit Budget(std::uint64_t limit) : limit_(limit) {}
  /// False when that was too much.
  bool spend(std::uint64_t units) {
    spent_ += units;
    return spent_ <= limit_;
  }
  /// One of the steps inside a function that cost nothing by themselves, such as a comparison of nested parts. Too many of them
  /// exhaust the budget: shared parts can make a small value look huge.
  bool look() {
    if (++looks_ > limit_ * 10) spent_ = limit_ + 1;
    return spent_ <= limit_;
  }
  bool is_exhausted() const { return spent_ > limit_; }
  std::uint64_t spent() const { return spent_; }

 private:
  std::uint64_t limit_;
  std::uint64_t spent_ = 0;
  std::uint64_t looks_ = 0;
};

/// One call: its arguments (a receiver first), none an error.
struct Call {
  std::span<const Value> args;
  Budget& budget;
  const re2::RE2* regex;  // of a constant pattern, else null
  const Value& operator[](std::size_t index) const { return args[index]; }
};

using Function = Value (*)(const Call& call);

/// A row of a table: "string.(string, int) -> bool" is a member, "(list(A)) -> A" a plain function; A and B stand for any type.
/// In rules a name with "k8s." before it, if there is one, stands for the name: there Kubernetes departs from the
/// specification.
struct Row {
  std::string_view name;
  std::string_view signature;
  Function run;
};

struct Overload {
  std::string name;
  bool is_member = false;
  std::vector<TypePtr> params;  // the receiver first
  TypePtr result;
  Function run = nullptr;
};

class Library {
 public:
  explicit Library(std::initializer_list<std::span<const Row>> tables);
  /// The overloads of a name, in order of their rows; empty when there are none.
  std::span<const Overload> find(std::string_view name) const;

 private:
  std::map<std::string, std::vector<Overload>, std::less<>> overloads_;
};

/// Every function there is.
const Library& library();

/// The items in the ascending order of their keys, equal ones as they stand; an error when the keys have no common order.
Value sorted_by(const Items& items, const Items& keys, Budget& budget);

std::span<const Row> operator_rows();
std::span<const Row> conversion_rows();
std::span<const Row> time_rows();
std::span<const Row> string_rows();
std::span<const Row> list_rows();
std::span<const Row> optional_rows();
std::span<const Row> network_rows();
std::span<const Row> scalar_rows();

}  // namespace slipway::cel
