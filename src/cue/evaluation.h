// What a Cursor points into: one evaluator with the program it runs.
#pragma once

#include <set>

#include "cue/cue.h"
#include "cue/eval/evaluator.h"

namespace slipway::cue {

class Evaluation : public std::enable_shared_from_this<Evaluation> {
 public:
  Evaluation(Program program, Limits limits)
      : program_(std::move(program)),
        limits_(std::move(limits)),
        evaluator_(program_.data(), {.max_steps = limits_.max_steps,
                                     .max_bytes = limits_.max_bytes,
                                     .max_depth = limits_.max_depth,
                                     .cancelled = limits_.cancelled,
                                     .is_overdue = limits_.is_overdue}) {}

  Vertex* run(std::vector<Hole> holes);
  const std::vector<Hole>& holes() const { return holes_; }
  const Limits& limits() const { return limits_; }
  const Program& program() const { return program_; }
  Evaluator& evaluator() { return evaluator_; }
  Vertex* root() const { return root_; }
  Error error_of(const Bottom& reason);
  /// Errors of a vertex and what lies below; for Concrete also what has no value yet.
  Errors errors_of(Vertex* v, Demand demand);

  /// A value of another evaluation, copied with its types, bounds and disjunctions; its references are gone. What has no value
  /// yet is any value, or stays that error when asked to.
  Value from_other(Evaluation& other, Vertex* v, int depth = 0);
  Value from_other_value(Evaluation& other, const Value& value, int depth = 0);
  void keep_incomplete() { keeps_incomplete_ = true; }
  /// What items beyond those of an open list of another evaluation must be; none when anything.
  Value rest_of(Evaluation& other, const Vertex* list, int depth = 0);
  /// Lets a list made of values have more items.
  void open_list(Vertex* list, const Value& rest);
  /// A place in the sources of another evaluation, for values copied from there.
  Pos foreign_position(const Evaluation& other, Pos pos);
  /// The meet of values made in this evaluation, as a root of its own.
  Cursor unify(std::span<const Value> values);

 private:
  void collect(Vertex* v, Demand demand, Errors& out, int depth);
  bool is_told_elsewhere(Vertex* v);
  void collect_here(Vertex* v, Demand demand, Errors& out, int depth);
  void advise(const Bottom& reason, Error& error);
  std::string hint_for(const Bottom& reason);
  void say_operands(const Bottom& reason, Error& error);
  void compare_branches(const Bottom& reason, Error& error);
  std::vector<const Bottom*> failures_of(const Branch& branch, const Bottom& reason);
  void compare_scalars(const std::vector<const Bottom*>& failures, Error& error);
  void add_sources(const Vertex* v, std::vector<Position>& out);
  void add_places(const std::vector<Pos>& places, std::vector<Position>& out);

  void add_position(Pos pos, std::vector<Position>& out) const;
  Value at_path(std::string_view path, Value value);
  Value around(const std::string& name, bool is_quoted, const Value& value);

  Program program_;
  Limits limits_;
  Evaluator evaluator_;
  std::vector<Hole> holes_;
  Vertex* root_ = nullptr;
  bool keeps_incomplete_ = false;
  std::vector<Position> foreign_positions_;
  std::set<std::pair<const Vertex*, Demand>> clean_;  // of one validation
};

/// Comment lines above a field and above what it refers to, without "//".
std::vector<std::string> doc_of(const Vertex* v);

/// CUE text of a vertex.
std::string cue_text(Evaluator& evaluator, Vertex* v);

}  // namespace slipway::cue
