// The functions of the standard packages, as rows {package, name, arguments, function}. A package is one file in this folder
// that exports its rows; packages.cc lists them. A function gets evaluated arguments and gives a value or a bottom; it never
// sees expressions. A row with one argument less given is a validator: its first argument is the value to be judged.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cue/compile/program.h"
#include "cue/compile/value.h"
#include "json/value.h"

namespace re2 {
class RE2;
}

namespace slipway::cue {

/// A text of JSON or YAML that a function reads data from.
struct TextRead {
  std::string_view text;
  SourceFormat format;
  std::size_t document = 0;
};

class Calls;

/// Text that a function reads or writes for one step.
inline constexpr std::uint64_t kBytesPerStep = 64;
/// What an item of a list that a function makes takes in memory, with its place among the others.
inline constexpr std::uint64_t kItemBytes = 136;

struct Builtin {
  std::string_view package;  // "" for the predeclared ones
  std::string_view name;
  std::span<const KindMask> params;
  KindMask result;
  /// Arguments are concrete (structs and lists: evaluated, perhaps incomplete inside) and of the declared kinds.
  Value (*call)(Calls& calls, std::span<const Value> args);
  /// Takes its arguments as they are, without requiring them to be concrete.
  bool wants_raw = false;
  /// May be written without its first argument, or, with one argument, without a call: then it judges the value. With
  /// result 0 that is all it may do.
  bool is_validator = false;
  /// Of a constant (params empty, call null): CUE text of its value, e.g. "3.14" or "int | string".
  std::string_view constant = {};
  /// That many parameters at the end may be left off; the function then gets fewer arguments.
  std::uint8_t optional_params = 0;
  /// Bit i: argument i is a whole number of any size. The others must fit 64 bits.
  std::uint8_t big_params = 0;
  /// Not to be called with the value it judges.
  bool is_only_validator = false;
  /// Costs the same however long its texts are.
  bool is_instant = false;

  /// Whatever answers with a bool may judge.
  constexpr bool judges() const { return is_validator || result == kBool; }
};

/// The row, whose whole numbers of these arguments (bit i: argument i) may be of any size.
constexpr Builtin with_big(Builtin row, std::uint8_t params) {
  row.big_params = params;
  return row;
}

constexpr Builtin instant(Builtin row) {
  row.is_instant = true;
  return row;
}

/// What a function may ask of the evaluation it runs in.
class Calls {
 public:
  virtual ~Calls() = default;

  // Results.
  virtual Value make_string(std::string_view text) = 0;
  virtual Value make_bytes(std::string_view text) = 0;
  virtual Value make_number(const Decimal& number, bool is_float) = 0;
  virtual Value make_list(std::span<const Value> items) = 0;
  struct Member {
    std::string_view name;
    Value value;
  };
  virtual Value make_struct(std::span<const Member> members) = 0;
  /// "error in call to strings.X: <message>".
  virtual Value fail(std::string message) = 0;
  /// "error in call to strings.X: …" for a reason found below, whose places take part.
  virtual Value fail(const Value& reason, Code code = Code::Eval) = 0;
  /// An error that says all there is to say.
  virtual Value error(std::string message) = 0;
  /// The function as messages name it: "strings.Join".
  virtual std::string callee() const = 0;
  /// A validator's no: false where it is called like a function, an error with this message where it judges, with what it
  /// failed with told behind it.
  virtual Value reject(std::string message, std::span<const Value> because = {}) = 0;
  /// No so far: the operands are not known well enough yet.
  virtual Value incomplete(std::string message, std::span<const Value> because = {}) = 0;
  /// A no in the words of an error found below.
  virtual Value reject(const Value& reason) = 0;
  /// Data as it would be written in the language.
  virtual Value from_json(const json::Value& data) = 0;

  // The budget. A loop charges for what it looks at, and asks before it takes memory; a function that is told no gives
  // `ended()`.
  /// Charges steps: one for an item, or for kBytesPerStep bytes of text. False when the evaluation has ended with them.
  virtual bool spend(std::uint64_t steps) = 0;
  /// Whether so many bytes may be taken beside what is there already. False ends the evaluation.
  virtual bool has_room(std::uint64_t bytes) = 0;
  /// A text of that size, charged, to be filled in and given as Value::string or bytes; null when there is no room.
  virtual char* take_text(std::uint64_t size) = 0;
  /// The error that the budget has ended.
  virtual Value ended() = 0;

  // Arguments. Sizes are known, not counted; each item or member that is asked for is charged.
  virtual std::size_t list_size(const Value& list) = 0;
  /// The item with defaults taken; a bottom when it has no value.
  virtual Value list_item(const Value& list, std::size_t index) = 0;
  /// The item as it is.
  virtual Value raw_item(const Value& list, std::size_t index) = 0;
  /// Regular fields that exist; as they come, or in the order fields are shown in. None when the budget has ended.
  virtual std::size_t member_count(const Value& object) = 0;
  virtual std::vector<Member> members(const Value& object) = 0;
  virtual std::vector<Member> members_in_order(const Value& object) = 0;
  /// Equal as data: defaults taken, whether they are open or have optional fields or not.
  virtual bool is_equal(const Value& a, const Value& b) = 0;
  /// The same for values that are equal.
  virtual std::uint64_t hash_of(const Value& value) = 0;
  /// JSON text of a concrete value; nothing and `error` set otherwise.
  virtual std::string to_json(const Value& value, Value& error) = 0;
  /// The same as a tree; an error leaves nothing and sets `error`.
  virtual json::Value to_data(const Value& value, Value& error) = 0;
  /// More items or fields may be added: an open list, a struct that is not closed.
  virtual bool may_grow(const Value& value) = 0;
  /// Names of optional fields count: how many a closed struct may still get.
  virtual std::size_t optional_count(const Value& object) = 0;
  /// Compiled once per program (literals) or evaluation; null and `error` set when it is no regular expression.
  virtual const re2::RE2* regexp(std::string_view pattern, Value& error) = 0;
  /// As error messages show it.
  virtual std::string show(const Value& value) = 0;
  /// a & b, evaluated. A bottom when it has none.
  virtual Value unify(const Value& a, const Value& b) = 0;
  /// What is there: defaults taken; only regular fields, without patterns and optional ones; open.
  virtual Value data_of(const Value& value) = 0;
  /// How data and schema go together: None when they do; Incomplete when they may, e.g. once required fields are there.
  /// `why` gets the errors.
  virtual Code fit(const Value& data, const Value& schema, std::vector<Value>* why = nullptr) = 0;
  /// What else than errors counts for `check`: nothing, required fields that are not there, what has no single value, too.
  enum class Wanted : std::uint8_t { Fit, Fields, Values };
  /// The first error of both together, or the first that is missing; none when there is none.
  virtual Value check(const Value& value, const Value& schema, Wanted wanted) = 0;
  /// Tells errors where in the text its data stands. The text must outlive the evaluation, as arguments do.
  virtual void place(const Value& data, const TextRead& text) = 0;
  /// One of the items, or all of them at once; unevaluated.
  virtual Value any_of(const Value& list) = 0;
  virtual Value all_of(const Value& list) = 0;
  /// *preferred | other
  virtual Value with_default(const Value& preferred, const Value& other) = 0;
  /// The struct with no further fields allowed, one level deep.
  virtual Value closed(const Value& object) = 0;
  /// A struct with two fields set, one asked for: what a comparator like list.Ascending is.
  virtual Value compare_with(const Value& comparator, const Value& x, const Value& y) = 0;
  /// 1 for a comparator that is x < y of numbers or texts, as list.Ascending is, -1 for x > y, 0 for any other.
  virtual int natural_order(const Value& comparator) = 0;
};

Decimal to_decimal(const Value& number);
/// Of a whole number; the nearest when it does not fit 64 bits.
std::int64_t to_int(const Value& number);
/// A result of decimal arithmetic: a whole one is an int, however it came about.
Value make_reduced(Calls& calls, Decimal number);
/// A result of binary floating point, in its shortest form. A bottom for infinities and NaN.
Value make_double(Calls& calls, double number);
/// What is asked for as a value of any kind and then used as a list: false, and `error` set, when it is none.
bool is_list(Calls& calls, const Value& value, Value& error);
/// A number as binary floating point; a bottom in `error` when it is out of range. `index` from 0, of the argument.
double to_double(Calls& calls, const Value& number, std::size_t index, Value& error);
/// A whole number within limits, those of the type of that name; a bottom in `error` beyond them.
std::int64_t to_int(Calls& calls, const Value& number, std::size_t index, std::string_view type, std::int64_t least,
                    std::int64_t most, Value& error);
/// Every item as text or number; false and `error` set when one is neither.
bool texts_of(Calls& calls, const Value& list, std::vector<std::string_view>& out, Value& error);
bool numbers_of(Calls& calls, const Value& list, std::vector<Value>& out, Value& error);
Value make_texts(Calls& calls, std::span<const std::string> texts);
/// The same of texts that are, or lie in, the arguments: they are not copied.
Value make_texts(Calls& calls, std::span<const std::string_view> texts);
/// "string", "(bool|int)" of a value as argument messages say it.
std::string kind_name(const Value& value);

/// Parameter lists of rows.
template <KindMask... kinds>
inline constexpr std::array<KindMask, sizeof...(kinds)> kParams{kinds...};
inline bool is_float(const Value& number) { return number.tag == Value::Tag::Number && number.number->is_float; }

/// All rows of a package; empty when there is no such package.
std::span<const Builtin> builtins_of(std::string_view package);
bool is_standard_package(std::string_view path);
/// Of every package offered, "" among them.
std::vector<std::string_view> standard_package_paths();
/// Known to the language but not offered here, e.g. "tool/exec".
bool is_package_not_offered(std::string_view path);
const Builtin* find_builtin(std::string_view package, std::string_view name);

}  // namespace slipway::cue
