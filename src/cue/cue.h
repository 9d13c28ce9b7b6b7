// CUE: templates compiled once and evaluated many times. A Program is immutable and may be shared by threads; an evaluation has
// an arena of its own that goes with the last Cursor pointing into it. Semantics are those of the language as of v0.14. Nothing
// in here throws, reads a clock or a file; which packages exist is the caller's business.
//
//   auto program = cue::compile({{"web.cue", text}}, {}, {.open_names = {"context"}});
//   cue::Cursor root = cue::evaluate(*program, {{"parameter", json}, {"context", context}});
//   auto output = root.lookup("output").to_json();
#pragma once

#include <atomic>
#include <cstdint>
#include <expected>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cue/compile/program.h"
#include "json/value.h"

namespace slipway::cue {

struct Position {
  std::string file;
  int line = 0;    // from 1
  int column = 0;  // from 1, in bytes
};

/// One thing wrong. `code`: "syntax", "eval", "user", "incomplete", "cycle", "structural cycle".
struct Error {
  std::string code;
  std::string path;
  std::string message;
  std::vector<Position> positions;  // of both sides of a conflict
  std::string hint = {};            // what may have been meant: a field that is allowed and nearly named so
  std::string expected = {};        // what the value must be and what it is, as CUE text, where that is known
  std::string got = {};
  std::vector<Error> closest = {};  // of a disjunction: what the disjunct that came closest failed with; at most one
  bool is_placed = true;            // the first position is where it is told; else all are places that take part
};
using Errors = std::vector<Error>;

/// One error per line, with its hint in parentheses and its positions below.
std::string describe(const Errors& errors);
/// [{"code", "path", "message", "positions": [{"file", "line", "column"}]}] with "expected", "got", "hint" and "closest" (an
/// error again) where they are known.
json::Value to_json(const Errors& errors);

class Program {
 public:
  const ProgramData& data() const { return *data_; }

 private:
  friend std::expected<Program, Errors> compile(const std::vector<SourceText>& files, const Packages& packages,
                                                const CompileOptions& options);
  explicit Program(std::shared_ptr<const ProgramData> data) : data_(std::move(data)) {}
  friend class Evaluation;

  std::shared_ptr<const ProgramData> data_;
};

/// The files of one package, and the packages they may import. Names, imports and literals are checked here.
std::expected<Program, Errors> compile(const std::vector<SourceText>& files, const Packages& packages = {},
                                       const CompileOptions& options = {});

/// What a validation asks for.
enum class Demand : std::uint8_t {
  Valid,     // no permanent error; what is only incomplete is fine
  Concrete,  // every regular field has one value
};

enum class Kind : std::uint8_t { Absent, Bottom, Null, Bool, Int, Float, String, Bytes, Struct, List, Open };

class Evaluation;
struct Vertex;
struct FieldCursor;

/// A node of an evaluation: perhaps absent, erroneous or incomplete. Defaults count as values. Copying is cheap; it keeps the
/// evaluation alive. Not for two threads at once.
class Cursor {
 public:
  Cursor() = default;
  Cursor(std::shared_ptr<Evaluation> evaluation, Vertex* vertex) : evaluation_(std::move(evaluation)), vertex_(vertex) {}

  bool exists() const { return vertex_ != nullptr; }
  /// Bottom for errors of its own or, when permanent, of a field below; Open when there is no single value yet.
  Kind kind() const;
  bool is_concrete() const;
  std::string path() const;
  /// Comment lines directly above the field and above the one it refers to, without "//".
  std::vector<std::string> doc() const;

  /// One field by name ("#D" and "_h" for definitions and hidden fields of the main package), or one item by number.
  Cursor field(std::string_view name) const;
  Cursor item(std::size_t index) const;
  /// Along a path: names and numbers with dots, quoted where needed.
  Cursor lookup(std::string_view path) const;
  /// Fields in order; also optional, hidden and definition ones when asked for.
  std::vector<FieldCursor> fields(bool with_others = false) const;
  std::vector<Cursor> items() const;

  /// The scalar; the fallback when it is none.
  std::string as_string(std::string_view fallback = "") const;
  std::int64_t as_int(std::int64_t fallback = 0) const;
  bool as_bool(bool fallback = false) const;

  Errors validate(Demand demand = Demand::Valid) const;
  std::expected<json::Value, Errors> to_json() const;
  /// JSON text with the numbers as CUE writes them (1E+3).
  std::expected<std::string, Errors> to_json_text() const;
  std::expected<std::string, Errors> to_yaml() const;
  /// CUE text of the value, incomplete or not: a struct's fields, or one expression.
  std::string to_cue() const;

  /// For what works on values inside this library.
  Evaluation* evaluation() const { return evaluation_.get(); }
  Vertex* vertex() const { return vertex_; }

 private:
  friend class Evaluation;
  std::shared_ptr<Evaluation> evaluation_;
  Vertex* vertex_ = nullptr;
};

struct FieldCursor {
  std::string name;
  ast::Mark mark = ast::Mark::Regular;
  Cursor value;
  std::vector<std::string> doc;         // comment lines directly above, without "//"
  std::vector<std::string> attributes;  // "@name(body)"
};

/// A field that comes from outside: data, or a value of an earlier evaluation, perhaps incomplete. Several holes may lie in one
/// top-level field.
struct Hole {
  std::string name;  // a path as for lookup
  std::variant<json::Value, Cursor> value;
};

/// What an evaluation may take. Steps and bytes are counted as cue/eval/budget.h says, the same for the same input; the flag
/// and the deadline are the caller's, and looked at at least every 1,024 steps. A step is less than a microsecond on most
/// machines.
///
///   std::atomic<bool> cancelled = false;  // another thread may set it; it outlives the last cursor
///   cue::Limits limits = cue::Limits::for_template();
///   limits.cancelled = &cancelled;
///   limits.is_overdue = [deadline] { return steady_now() >= deadline; };
struct Limits {
  std::uint64_t max_steps = 20'000'000;
  std::size_t max_bytes = std::size_t{512} << 20;  // of the evaluation, without the program, its holes and what is exported
  std::uint32_t max_depth = 50'000;                // 1000 in a program of fewer expressions
  const std::atomic<bool>* cancelled = nullptr;
  std::function<bool()> is_overdue = {};  // called on the thread that evaluates; true from the deadline on

  /// A template that a server renders for a user: a second of one thread at most.
  static Limits for_template() { return {.max_steps = 2'000'000, .max_bytes = std::size_t{64} << 20}; }
  /// A program that its author runs, on a machine of his own.
  static Limits for_command_line() { return {.max_steps = 100'000'000, .max_bytes = std::size_t{1} << 30}; }
};

/// Evaluates the whole program. Errors are in the value. Beyond a limit, a deadline or a cancellation all of it has failed,
/// wherever one looks: the one error says at which path it was; what was evaluated then may have been a disjunct or a guard, so
/// no value can be trusted.
Cursor evaluate(const Program& program, std::span<const Hole> holes = {}, Limits limits = {});
inline Cursor evaluate(const Program& program, std::initializer_list<Hole> holes) {
  return evaluate(program, std::span(holes.begin(), holes.size()));
}

/// The same evaluation with more holes, for example what a provider answered: {{"apply.$returns", value}}. Values are unified
/// with what is there; in a path "#d" and "_h" are definitions and hidden fields of the main package, numbers are list items.
/// The program is evaluated again as a whole; the old cursors stay as they are. REQUIRES: a root, as evaluate or fill gave it;
/// of another cursor the result is absent.
Cursor fill(const Cursor& root, std::vector<Hole> holes);

/// A struct that asks a provider to do something: it has a concrete `#do`.
struct Call {
  std::string path;      // as for fill
  std::string provider;  // `#provider`; empty when it has none
  std::string function;  // `#do`
  Cursor value;          // with `$params`, and `$returns` once filled
};
/// Calls in a value, innermost first, otherwise in the order of the fields; definitions, hidden fields and lists included. To
/// run them: do the first that was not done, fill its `$returns`, and look again.
std::vector<Call> calls(const Cursor& root);

}  // namespace slipway::cue
