// Evaluates a program. A vertex is settled by inserting its conjuncts, running what they ask for (references, guards, dynamic
// fields) as tasks until nothing moves, then deciding its disjunctions; its fields are settled when they are needed, and
// all of them in the end. A task that needs a vertex which is still running waits; the vertex lowest on the stack among those
// that wait for each other decides with what is known, as Tarjan's algorithm finds strongly connected components.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "cue/compile/program.h"
#include "cue/eval/alternatives.h"
#include "cue/eval/budget.h"
#include "cue/eval/rings.h"
#include "cue/eval/scalar_index.h"
#include "cue/eval/texts_read.h"
#include "cue/std/registry.h"
#include "cue/wide_stack.h"

namespace slipway::cue {

class Evaluator final : public Calls {
 public:
  Evaluator(const ProgramData& program, Budget budget);

  /// The root with the given conjuncts beside the program's. Complete.
  Vertex* run(std::span<const Conjunct> extra);
  /// One more vertex, evaluated in the environment of the root.
  Vertex* complete_expression(const ir::Expr* expr);
  /// Several at once, unified.
  Vertex* complete_all(std::span<const ir::Expr* const> parts);
  /// An expression that is this value, for complete_all.
  const ir::Expr* constant(const Value& value, Pos pos);

  bool settle(Vertex* v);
  bool complete(Vertex* v);
  Labels& labels() { return labels_; }
  Arena& arena() { return arena_; }
  const ProgramData& program() const { return program_; }
  std::uint64_t steps() const { return meter_.steps(); }
  std::uint64_t used_bytes() const { return arena_.used_bytes() + labels_.used_bytes() + table_bytes_; }
  /// Vertices begun, once each: what the reference counts as a unification. Not the root of a trial, as its clone is none
  /// there; nor scalars of trials that leave further disjunctions aside.
  std::uint64_t unifications() const { return unifications_; }
  /// Error values built so far, reported or not.
  std::uint64_t errors_made() const { return errors_made_; }

  /// Where the budget ended first. None of the values can be trusted then: what failed for it may have been one disjunct.
  const Bottom* spent() const { return spent_; }
  /// Error reporting may evaluate more; such results are not cached. Gives what was set before.
  bool set_telling(bool is_telling) { return std::exchange(is_telling_, is_telling); }

  Vertex* find_arc(const Vertex* v, Label label) const;
  /// The value with defaults taken; a struct or list as its vertex.
  Value default_of(const Value& value);
  Value value_of(Vertex* v);
  std::string path_of(const Vertex* v) const;
  std::string message(const Bottom& bottom) const;
  std::string show(const Value& value) override;
  bool is_equal(const Value& a, const Value& b) override { return is_same_data(a, b, false); }
  std::uint64_t hash_of(const Value& value) override;
  /// The same with what each disjunct failed with, which is found out only when it is read.
  const Bottom& in_full(const Bottom& reason);
  /// An error and, of a disjunction, those of its branches.
  void expand(const Bottom& reason, std::vector<const Bottom*>& out);
  /// The field that is all another one was said to be; null when it was said to be anything else.
  Vertex* only_reference(const Vertex* v) const;
  /// Where a field was said to be something.
  void report_sources(const Vertex* v, std::vector<Pos>& out) const;
  /// Where a field was said to be required, but for guards, and the way there.
  std::vector<Pos> required_places(const Vertex* field) const;
  /// What takes part in an error beside the place it is told at.
  std::vector<Pos> places_of(const Bottom& reason);
  /// Errors of a complete vertex, the worst first; fields below included.
  void collect_errors(const Vertex* v, std::vector<const Bottom*>& out) const;
  /// Whether a regular field of that name may be added; with no label, whether one of any name may.
  bool allows_field(Vertex* v, Label label);
  Vertex* data_vertex(Vertex* parent, Label label, const Value& value);
  /// What further items of an open list made of values must be; null when anything goes.
  const ir::Expr* data_rest(const Vertex* list) const;
  void set_data_rest(const Vertex* list, const ir::Expr* rest) { data_rests_[list] = rest; }

  // Calls
  Value make_string(std::string_view text) override;
  Value make_bytes(std::string_view text) override;
  Value make_number(const Decimal& number, bool is_float) override;
  Value make_list(std::span<const Value> items) override;
  Value make_struct(std::span<const Member> members) override;
  Value fail(std::string message) override;
  Value fail(const Value& reason, Code code) override;
  Value error(std::string message) override;
  std::string callee() const override;
  Value incomplete(std::string message, std::span<const Value> because = {}) override;
  Value reject(std::string message, std::span<const Value> because = {}) override;
  Value reject(const Value& reason) override;
  Value from_json(const json::Value& data) override;
  bool spend(std::uint64_t steps) override;
  bool has_room(std::uint64_t bytes) override;
  char* take_text(std::uint64_t size) override;
  Value ended() override;
  std::size_t list_size(const Value& list) override;
  Value list_item(const Value& list, std::size_t index) override;
  Value raw_item(const Value& list, std::size_t index) override;
  std::size_t member_count(const Value& object) override;
  std::vector<Member> members(const Value& object) override;
  std::vector<Member> members_in_order(const Value& object) override;
  std::string to_json(const Value& value, Value& error) override;
  /// Faster, for readers to whom the order of fields says nothing.
  std::string to_unordered_json(const Value& value, Value& error);
  json::Value to_unordered_data(const Value& value, Value& error);
  json::Value to_data(const Value& value, Value& error) override;
  bool may_grow(const Value& value) override;
  std::size_t optional_count(const Value& object) override;
  const re2::RE2* regexp(std::string_view pattern, Value& error) override;
  Value unify(const Value& a, const Value& b) override;
  Value data_of(const Value& value) override;
  Code fit(const Value& data, const Value& schema, std::vector<Value>* why = nullptr) override;
  Value check(const Value& value, const Value& schema, Wanted wanted) override;
  void place(const Value& data, const TextRead& text) override;
  /// Of a position that `place` made; none of any other.
  std::optional<FoundPlace> place_in_text(Pos pos) const { return texts_read_.find(pos); }
  Value any_of(const Value& list) override;
  Value all_of(const Value& list) override;
  Value with_default(const Value& preferred, const Value& other) override;
  Value closed(const Value& object) override;
  Value compare_with(const Value& comparator, const Value& x, const Value& y) override;
  int natural_order(const Value& comparator) override;
  /// Appends; false and `error` set when the value is not concrete.
  bool write_json(std::string& out, const Value& value, Value& error, FieldOrder order);
  std::string number_text(const Value& number) const;
  /// In JSON and in texts: a float without a fraction and exponent, like 30 of 1.5e1*2, has no ".0".
  std::string data_text(const Value& number) const;

 private:
  // data_out.cc
  Value data_value(const Value& raw, Value& error);
  std::span<Vertex* const> data_fields(Vertex* v, std::vector<Vertex*>& ordered, FieldOrder order);
  bool is_data_field(const Vertex* field, const Vertex* in, Value& error);
  bool read_data(const Value& raw, json::Value& out, Value& error, FieldOrder order, std::uint64_t& bytes, int depth);

  // insert.cc
  void insert(Vertex* v, const Conjunct& c);
  void insert_struct(Vertex* v, const Conjunct& c, const ir::Struct& s);
  void insert_list(Vertex* v, const Conjunct& c, const ir::List& list);
  void add_info(Vertex* field, const ir::FieldInfo* info);
  void insert_value(Vertex* v, const Conjunct& c, const Value& value, Pos pos);
  void insert_scalar(Vertex* v, const Value& value, const Origin& from);
  void insert_kinds(Vertex* v, KindMask kinds, const Value& shown, const Origin& from);
  void insert_bound(Vertex* v, const Value& bound, const Origin& from);
  void insert_data(Vertex* v, const Conjunct& c, Vertex* data);
  void insert_disjunction(Vertex* v, const Conjunct& c, const Disjunction* values = nullptr);
  void add_task(Vertex* v, Task::Kind kind, const Conjunct& c, const ir::Decl* decl = nullptr);
  /// `by`: the conjunct that asks for the field.
  Vertex* arc(Vertex* v, Label label, ArcMark mark, const Conjunct* by = nullptr);
  void add_conjunct(Vertex* v, const Conjunct& c);
  void reopen(Vertex* v);
  void apply_pattern(const Pattern& pattern, Vertex* arc);
  void add_pattern(Vertex* v, const Pattern& pattern);
  bool matches(const Value& matcher, Label label);
  void note_conjunct(Vertex* v, const Conjunct& c);
  CloseScope* scope(CloseScope* parent, CloseScope::Kind kind, const Vertex* of = nullptr);

  // tasks.cc
  bool run_tasks(Vertex* v);
  bool attempt(Vertex* v, std::uint32_t index);
  bool attempt_inner(Vertex* v, Task& task);
  bool run_resolve(Vertex* v, const Conjunct& c);
  bool run_expression(Vertex* v, const Conjunct& c);
  bool run_dynamic(Vertex* v, const Task& task);
  bool run_pattern(Vertex* v, const Task& task);
  bool run_comprehension(Vertex* v, const Conjunct& c);
  bool run_list(Vertex* v, const Conjunct& c);
  /// The environments a comprehension's body runs in. A bottom when it cannot tell.
  Value clauses(const ir::Comprehension& comprehension, std::size_t index, Env* env, std::vector<Env*>& out);
  Value for_clause(const ir::Comprehension& comprehension, std::size_t index, Env* env, std::vector<Env*>& out);
  void fail_fields(Vertex* v, const FailedGuard& failed);
  void fail_field(Vertex* field, const ir::Expr& value, const Conjunct& error);
  void add_vertex(Vertex* v, const Conjunct& c, Vertex* from, bool is_definition);
  void add_conjuncts_of(Vertex* v, const Conjunct& c, Vertex* target, bool is_definition);
  bool follow_cyclic(Vertex* v);
  bool may_share(Vertex* v, const Conjunct& c, const Vertex* from);
  bool names_only(Vertex* v, const Conjunct& c, const Vertex* from);
  bool is_given(const Vertex* v, const Vertex* lap) const;
  Vertex* written_out(Vertex* v, const Conjunct& c, const Vertex* from);
  bool leads_back(const Vertex* v, const Vertex* from);
  bool track_cycle(Vertex* v, Conjunct& c, const Vertex* from);
  bool is_known(Vertex* v, const Conjunct& c, const Vertex* target, bool is_definition, bool& needs_scope);
  bool may_produce(const Task& task, Label label) const;
  bool names_label(const Task& task, Label label) const;
  bool blocked(const Value& value);

  // resolve.cc
  Lookup lookup(Vertex* v, Label label, Pos pos);
  bool decide_known(Vertex* v, Label label);
  bool asks_for_known(const Task& task);
  bool is_scalar_known(Vertex* field);
  Lookup resolve(const ir::Expr& expr, Env* env);
  Lookup resolve_through(const ir::Expr& base, Env* env);
  Lookup resolve_let(const ir::Ref& ref, Env* env);
  Lookup resolve_index(const ir::Index& index, Env* env);
  Vertex* tried(Vertex* v) const;
  Lookup select(const ir::Expr& base, const Value& value, Label label, Pos pos);
  Lookup lookup_in_value(const Value& base, Label label, Pos pos);
  static bool is_preliminary(const Vertex* v);
  Vertex* instance(std::uint32_t index);
  Env* up(Env* env, std::uint16_t levels) const;
  static bool refers_to_definition(const ir::Expr& expr);
  bool has_ancestor(const Vertex* v, const Vertex* ancestor) const;
  bool is_inside(const Vertex* v, const Vertex* ancestor) const;
  bool may_have_any(Vertex* v);

  // expression.cc
  Value evaluate(const ir::Expr& expr, Env* env);
  Value evaluate_inner(const ir::Expr& expr, Env* env);
  /// A scalar, struct or list; else a bottom.
  Value concrete(const ir::Expr& expr, Env* env);
  Value make_concrete(Value value, Pos pos);
  /// What `make_concrete` found missing, in the words of who needs it: `format` shows the value as {0}, `more` as {1}.
  Value lacks(const Value& missing, const char* format, Pos pos, const Value& more = {});
  Value unary(const ir::Unary& expr, Env* env);
  Value binary(const ir::Binary& expr, Env* env);
  bool lacks_values(const Value& value);
  Value interpolation(const ir::Interpolation& expr, Env* env);
  Value call(const ir::Call& expr, Env* env);
  Value call_builtin(const Builtin& builtin, const ir::Call& expr, Env* env);
  Value call_raw(const Builtin& builtin, const ir::Call& expr, Env* env);
  Value presence(const ir::Presence& expr, Env* env);
  Value bound(const ir::Bound& expr, Env* env);
  bool prepare_comparison(Vertex* comparator);
  Value compare_in_place(Vertex* comparator, const Value& x, const Value& y);
  Value inline_value(const ir::Expr& expr, Env* env);
  Value lacks_there(const Value& missing, const char* format, const Value& more = {});
  Value lacks_argument(const Value& missing, const Builtin& builtin, std::size_t index, Pos pos);
  Value wrong_count(const Builtin& builtin, std::string_view which, std::size_t given, Pos pos);
  Value call_within_range(const Builtin& builtin, std::span<const Value> args);
  Value check_argument(const Builtin& builtin, const Value& value, std::size_t index, Pos pos);

  // judge.cc
  Pos place_of_value(const Vertex* v) const;
  Vertex* placed_data(Vertex* parent, Label label, const Value& value, Pos name, Pos place);
  /// a & b, complete; `a_pos` is where a stands.
  Vertex* meet(const Value& a, const Value& b, Pos a_pos);
  Value lacking(Vertex* v, Wanted wanted);
  void place_below(Vertex* data);

  // operators.cc
  Value binary_values(Tok op, const Value& a, const Value& b, Pos pos);
  Value arithmetic(Tok op, const Value& a, const Value& b, Pos pos);
  Value list_arithmetic(Tok op, const Value& a, const Value& b, Pos pos);
  Value compare_values(Tok op, const Value& a, const Value& b, Pos pos);
  Value compare_lists(Tok op, const Value& a, const Value& b, Pos pos);
  Value lacks_value(Vertex* v, Pos pos);
  /// The same as written: open or not, types and bounds, optional fields.
  bool is_identical(const Value& a, const Value& b);
  bool is_same_data(const Value& a, const Value& b, bool regular_only);
  Value compared(const Value& side);
  Value repeat(const Value& text, const Value& count, Pos pos);
  /// Whether a scalar satisfies a bound or validator: 1, 0, or -1 and `error` set.
  int satisfies(const Value& value, const Value& bound, Value& error);
  bool matches_regexp(std::string_view text, std::string_view pattern, Value& error, Pos pos);

  // disjunction.cc
  bool decide(Vertex* v);
  std::span<const Choice> with_choice(std::span<const Choice> made, const Choice& one);
  static DefaultMode mark_of(const PendingDisjunction& pending, std::size_t index);
  bool decide_trials(Vertex* v);
  bool cross(Vertex* v, std::uint32_t index, const std::vector<Alternative>& left, std::vector<Crossing>& out,
             std::vector<Branch>& errors);
  bool try_disjunct(Vertex* v, std::vector<Choice> choices, Crossing& out, std::vector<Branch>& errors);
  Vertex* trial_of(Vertex* v, std::span<const Choice> choices);
  bool is_untouched(const Vertex* trial, const Vertex* field) const;
  bool is_hopeless(Vertex* v, const ir::Expr& disjunct);
  void append_preliminary(std::vector<Alternative>& out, Alternative one);
  void not_allowed_yet(const Vertex* v, std::vector<const Vertex*>& path, std::string& out);
  static DefaultMode join(DefaultMode a, DefaultMode b);
  static void unify_modes(std::vector<Crossing>& all);
  bool is_same(const Value& a, const Value& b);
  bool is_same_trial(const Value& a, const Value& b);
  void append_alternative(std::vector<Alternative>& out, Alternative one);
  void set_alternatives(Vertex* v, const std::vector<Alternative>& all, const std::vector<Branch>& errors);
  void fail_disjunction(Vertex* v, const std::vector<Branch>& errors);
  void select_branches(const Bottom& reason, std::vector<const Bottom*>& out);

  // scalar_disjunction.cc
  /// Decides a vertex that can only be one of scalars or sets of them. False when it may be something else.
  bool decide_scalars(Vertex* v);
  ScalarFactor* factor_of(const PendingDisjunction& pending, ScalarFactor& own);
  bool make_factor(const PendingDisjunction& pending, ScalarFactor& out);
  void add_part(ScalarFactor& factor, const Value& value, DefaultMode mark, std::uint32_t index);
  bool take_factor(Vertex* v, ScalarFactor& factor);
  void meet_factor(Vertex* v, const PendingDisjunction& pending, const ScalarFactor& factor, std::vector<Alternative>& all,
                   std::vector<Branch>& errors);
  Value meet_scalars(const Value& a, const Value& b);

  // finish.cc
  bool settle_running(Vertex* v);
  bool on_wide_stack(Vertex* v, bool (Evaluator::*what)(Vertex*));
  bool take_known(Vertex* v);
  Value fixed_value(const Vertex* v);
  Node* take_node();
  void give_node(Vertex* v);
  /// A scalar, or a set of them.
  static bool is_simple(const Value& value);
  bool force_one(Vertex* v);
  void finish(Vertex* v);
  void check_guards(Vertex* v);
  void finish_lists(Vertex* v);
  Value wrong_length(const ListPart& first, const ListPart& second);
  Value finish_base(Vertex* v, bool is_all_known = true);
  void find_contradiction(Vertex* v);
  Value finish_bounds(Vertex* v);
  bool is_empty_range(const Bound& low, const Bound& high, KindMask kinds);
  Value run_validators(Vertex* v, const Value& value);
  Pos place_said(const Origin& from) const;
  Value rejection(Vertex* v, const Value& subject, const Value& judge, const Value& error);
  bool is_implied_by_others(const Node& node, const Value& one);
  void finish_closedness(Vertex* v);
  static bool is_in_definition(const CloseScope* scope) { return scope != nullptr && scope->in_definition; }
  bool complete_below(Vertex* v);
  void complete_arcs(Vertex* v, bool& done);
  void make_endless(Vertex* field);
  void check_closed(Vertex* v);
  /// Why one of the closed scopes, which `by` is set to, does not allow the field.
  const Bottom* denial(Vertex* v, const Vertex* field, std::span<CloseScope* const> closed, CloseScope** by);
  const Bottom* early_denial(Vertex* v, const Vertex* field);
  void deny_below(Vertex* v, CloseScope* closed, const Bottom* reason);
  std::vector<CloseScope*> requirements(const Vertex* v);
  std::vector<CloseScope*> inherited_requirements(const Vertex* v);
  bool is_within(CloseScope* scope, const CloseScope* outer);
  std::uint32_t walk(std::span<CloseScope* const> places, const CloseScope* outer = nullptr);
  bool is_left_open(const Vertex* v, CloseScope* closed);
  /// Begins a question to `allows`: what closed scopes say of what is declared in any of these places.
  void ask(std::span<CloseScope* const> places);
  CloseScope* close_once(Vertex* v, CloseScope* outside, const Vertex* of);
  void ask_of(const Vertex* field);
  /// As `ask`, with the places that declare a field of v, or leave v open.
  void ask_of_field(const Vertex* v, const Vertex* field);
  bool allows(CloseScope* closed);
  bool is_bound_when_embedded(CloseScope* embedded);
  bool allows(CloseScope* closed, CloseScope* place);

  // errors
  Value bottom(Code code, const char* format, Pos pos, Value a = {}, Value b = {}, Pos other = 0);
  void add_error(Vertex* v, const Value& error);
  /// `kinds`: what a is known to be, where its text does not tell.
  Value conflict(const Value& a, const Origin& a_from, const Value& b, const Origin& b_from, KindMask kinds = 0);
  Vertex* named_by(const ir::Expr& expr, Env* env) const;
  void follow(const Vertex* target, std::vector<Pos>& out, int depth);
  void add_side(Pos pos, const RefTrail* trail, std::vector<Pos>& out);
  /// Charges steps; true, with the error kept, when the budget has ended.
  bool over_budget(Pos pos = 0, const Vertex* at = nullptr, std::uint64_t steps = 1);
  const char* why_spent(std::uint64_t steps);
  Value out_of_budget(const char* format, Pos pos, const Vertex* at);

  const ProgramData& program_;
  Meter meter_;
  Arena arena_;
  Labels labels_;
  std::vector<Vertex*> instances_;
  std::vector<Node*> free_nodes_;
  std::map<const Vertex*, const ir::Expr*> data_rests_;  // looked up only: too few lists have one to make every vertex larger
  Vertex* current_ = nullptr;                            // whose task runs
  const Conjunct* current_conjunct_ = nullptr;
  std::uint32_t depth_ = 0;
  std::uint32_t expanding_ = 0;   // failed disjunctions inside each other whose branches are being told
  std::uint32_t low_ = kNothing;  // the lowest vertex on the stack that the running task waits for
  bool force_ = false;            // decide with what is known
  bool spares_names_ = false;     // while deciding: fields whose names are not known may wait for others
  std::uint64_t progress_ = 0;
  bool tells_all_ = false;  // what each disjunct fails with matters
  bool is_asking_ = false;  // whether something is there: what is absent needs no error
  OpenVertices completing_;
  std::uint64_t errors_made_ = 0;
  std::uint64_t unifications_ = 0;
  std::uint32_t asked_ = 0;  // questions begun
  std::uint32_t walks_ = 0;
  std::vector<CloseScope*> places_;        // asked for
  std::uint64_t reopened_ = 1;             // what was known of closedness before does not count
  mutable std::uint64_t table_bytes_ = 0;  // of what lies beside the arena
  const Bottom* spent_ = nullptr;
  bool is_telling_ = false;
  const Builtin* calling_ = nullptr;
  Pos calling_pos_ = 0;
  std::vector<Judgement> judging_;
  Comparison comparison_;
  const Vertex* judged_ = nullptr;  // whose value a validator looks at
  TextsRead texts_read_;
  std::vector<const ir::Call*> calls_;  // inside each other
  mutable std::unordered_map<const Vertex*, FieldIndex> indexes_;
  std::map<std::string, std::shared_ptr<const re2::RE2>, std::less<>> regexps_;  // computed ones
  std::unordered_map<const ir::Or*, ScalarFactor> factors_;                      // large ones; only looked up in
  WideStack stack_;
};

}  // namespace slipway::cue
