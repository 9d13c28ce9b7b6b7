// The value tree while it is evaluated. A vertex is one field: what it is declared to be (conjuncts) and what that comes to
// (base and arcs). Conjuncts are expressions with the environment they were written in; a reference inside a struct that is
// copied by unification sees the copy, because inserting a struct literal opens a new environment on the vertex it is inserted
// into.
#pragma once

#include <unordered_map>

#include "cue/arena.h"
#include "cue/compile/ir.h"

namespace slipway::cue {

struct Vertex;
struct Node;

struct CloseScope;

/// One more scope that a scope lies in.
struct ScopeParent {
  CloseScope* scope;
  const ScopeParent* next;
};

/// What encloses a conjunct, for the check that closed structs get no fields they do not know. A field is allowed for a
/// closed scope when one of its declarations lies inside it, or in a struct that embeds it. What a vertex is said to be
/// several times is inserted once: its scope then lies in several, and each way up from a closed scope must allow a field.
struct CloseScope {
  enum class Kind : std::uint8_t { File, Struct, Embed, Definition, Once, Reference };
  CloseScope* parent;
  const Vertex* of;  // of a reference, whether to a definition or not, and of Once: what it is made for
  Kind kind;
  bool in_definition;       // it or one above is one
  bool is_of_root = false;  // Embed: what is embedded there
  bool is_shallow = false;  // Definition: does not close what is below
  bool is_bound = false;    // some way up meets nothing that would allow it
  // See Evaluator::ask; each holds for the question, or the walk, of that number.
  std::uint32_t asked = 0;     // something that was asked for lies in it
  std::uint32_t answered = 0;  // is_bound is known
  std::uint32_t walked = 0;
  const ScopeParent* more = nullptr;
};

/// The references through which a conjunct came, to find structural cycles. Guards and embeddings are among them with no arc,
/// for the places an error tells of.
struct RefTrail {
  const ir::Expr* ref;
  const Vertex* arc;
  const Vertex* node;
  const RefTrail* next;
};

struct LetMemo {
  Label label;
  Vertex* vertex;
  LetMemo* next;
};

/// One lexical level.
struct Env {
  Env* up;
  Vertex* vertex;
  Label label;  // of the field a pattern or dynamic field applies to
  LetMemo* lets;
};

/// Whether a conjunct repeats what is around it. One that applies only where others ask for a field, by a pattern or an
/// optional field, may meet itself once more: the field may be the last.
enum class Cycle : std::uint8_t {
  None,
  Optional,  // comes from a pattern or an optional field
  Lap,       // and has met itself
  Certain,
};

struct Conjunct {
  const ir::Expr* expr;
  Env* env;
  CloseScope* scope;
  const RefTrail* trail;
  Cycle cycle;
};

/// Declared strongest first: unification keeps the smaller. Absent: reserved by an evaluation that was begun again.
enum class ArcMark : std::uint8_t { Member, Required, Optional, Absent };

enum class Phase : std::uint8_t {
  Raw,
  Running,  // on the stack
  Partial,  // waits for something that is on the stack
  Settled,  // own value and fields known
  Completing,
  Final,  // fields evaluated too
};

struct Notify {
  Vertex* target;
  CloseScope* scope;
  const RefTrail* trail;
  Cycle cycle;
};

struct Vertex {
  Vertex* parent = nullptr;
  Label label = kNoLabel;
  Pos pos = 0;
  ArcMark mark = ArcMark::Member;
  Phase phase = Phase::Raw;
  bool is_closed : 1 = false;  // as shown: fields may not be added
  bool is_open_list : 1 = false;
  bool is_computed : 1 = false;      // a list with comprehensions: how many items it has depends on others
  bool is_data : 1 = false;          // made of values, without conjuncts
  bool closes_once : 1 = false;      // result of close()
  bool closes_fields : 1 = false;    // a definition, or inside one
  bool has_definition : 1 = false;   // one has a say in it
  bool closes_below : 1 = false;     // a definition takes in whatever is below
  bool in_closed : 1 = false;        // it or one above has closed scopes
  bool is_preliminary : 1 = false;   // a trial that leaves further disjunctions aside
  bool tried_disjuncts : 1 = false;  // its value is what was left of a disjunction
  bool has_incomplete : 1 = false;   // somewhere below
  bool is_counted : 1 = false;       // its fields were iterated over: there may be no more
  bool is_detached : 1 = false;      // made in the middle of an expression: what refers to those above repeats nothing
  bool lost_to_cycle : 1 = false;    // a disjunct was dropped because it repeats itself
  std::uint32_t elements = 0;        // items of a list, regular fields of a struct that are there
  List<Vertex*> arcs;                // added by `add` only
  List<Conjunct> conjuncts;
  List<Notify> notify;  // who has copied the conjuncts
  Value base;
  Node* node = nullptr;
  Vertex* shared = nullptr;            // this is the same as that one
  const Vertex* stands_for = nullptr;  // a disjunct being tried for that one
  const Bottom* child_error = nullptr;
  const ir::FieldInfo* info = nullptr;

  bool is_element() const { return label.is_index() || (label.is_regular() && mark == ArcMark::Member); }
  void add(Arena& arena, Vertex* field) {
    arcs.push(arena, field);
    elements += field->is_element() ? 1 : 0;
  }
};

inline Vertex* deref(Vertex* v) {
  while (v->shared != nullptr) v = v->shared;
  return v;
}
inline const Vertex* deref(const Vertex* v) {
  while (v->shared != nullptr) v = v->shared;
  return v;
}

/// What a vertex that only names another one stands for: the first that says what it is.
inline Vertex* declared(Vertex* v) {
  while (v->shared != nullptr && v->conjuncts.empty()) v = v->shared;
  return v;
}

/// What waits for a vertex says how deep on the stack that is; this is deeper than any.
inline constexpr std::uint32_t kNothing = 0xFFFFFFFF;

struct Task {
  enum class Kind : std::uint8_t { Resolve, Expression, Dynamic, Comprehension, Pattern, List };
  enum class State : std::uint8_t { Waiting, Running, Done };
  Kind kind;
  State state;
  Conjunct conjunct;
  const ir::Decl* decl;  // of Dynamic and Pattern
};

struct Pattern {
  Value matcher;
  Conjunct conjunct;
};

struct ListPart {
  std::uint32_t size;
  bool is_open;
  Conjunct rest;  // expr null when closed
  Pos pos;
};

struct ScopeMark {
  CloseScope* scope;
  bool is_top;
  bool is_struct;
  bool is_ellipsis;
};

/// Which disjunct of which disjunction a trial has chosen.
struct Choice {
  const ir::Expr* disjunction;
  std::uint32_t ordinal;
  std::uint32_t index;  // kDeferred: leave it aside
};
inline constexpr std::uint32_t kDeferred = 0xFFFFFFFF;

/// Whether a disjunct is preferred. Of two modes that are unified the greater holds.
enum class DefaultMode : std::uint8_t { Maybe, Default, Not };

/// How a disjunct was come to.
struct LeftDisjunct {
  DefaultMode mode = DefaultMode::Maybe;
  DefaultMode mark = DefaultMode::Maybe;  // of the last choice
  std::span<const Choice> choices = {};
};

struct PendingDisjunction {
  Conjunct conjunct;
  std::uint32_t ordinal;
  const Disjunction* values;  // null for one written as an expression
};

/// What a guard found of an expression while others waited for the guard; it must still hold in the end.
struct Verdict {
  const ir::Presence* question;
  Env* env;
  bool answer;
};

struct SeenDisjunction {
  const ir::Expr* expr;
  const Env* env;
  const Disjunction* values;
};

/// A field that a guard found absent while what may add it was waiting for the guard.
struct AbsentField {
  Vertex* holder;
  Label label;
  Pos pos;
};

/// What a guard that could not be decided would have added, and why it could not: what it says of a field has no value, either.
struct FailedGuard {
  const ir::Struct* body;
  Conjunct error;
};

/// The modes of the disjunct a trial begins with.
struct BeganWith {
  DefaultMode mode = DefaultMode::Maybe;
  DefaultMode mark = DefaultMode::Maybe;
};

/// A vertex whose conjuncts are in another one.
struct SeenVertex {
  const ir::Expr* ref;  // that led there
  const Vertex* arc;
  CloseScope* scope;  // that they were put in
  Cycle cycle;
};

/// Where something that a vertex is said to be was written, and the way from there. A value that a reference led to stands at
/// the reference, which is the first of the way.
struct Origin {
  Pos pos = 0;
  const RefTrail* trail = nullptr;
  const ir::Expr* expr = nullptr;  // for its text, where a value has none
};

/// A reference that repeats itself. What it leads to counts only beside something that does not.
struct CyclicReference {
  Conjunct conjunct;
  Vertex* to;
  bool is_definition;
};

/// A disjunct of a field below that is nothing but a reference, which repeats itself.
struct WrittenOut {
  const Vertex* to;
  const RefTrail* trail;
  CloseScope* scope;
  Cycle cycle;
  Vertex* vertex;
};

/// What was answered before all was known: to be looked at again in the end. Few vertices have any.
struct Told {
  List<CyclicReference> cyclic;  // put off
  List<WrittenOut> written_out;
  List<AbsentField> absent;
  List<AbsentField> promised;  // others were told that it has none of these
  List<Verdict> verdicts;
  List<FailedGuard> failed_guards;
};

/// What is known of a vertex while it runs, and what others ask of it later. One that came to a scalar gives its back: see
/// Evaluator::give_node.
struct Node {
 private:
  // There is a node for every vertex that runs. What Origins are made of lies so that there are no gaps.
  Value said_;
  const RefTrail* said_trail_ = nullptr;
  const ir::Expr* said_expr_ = nullptr;
  const ir::Expr* struct_expr_ = nullptr;
  const RefTrail* struct_trail_ = nullptr;
  Pos said_pos_ = 0;

 public:
  KindMask kinds = kTop;
  bool has_struct : 1 = false;
  bool maybe_struct : 1 = false;
  bool has_top : 1 = false;
  bool has_cyclic : 1 = false;
  bool has_noncyclic : 1 = false;
  bool is_deciding : 1 = false;  // with what is known: who asks from below for what is there gets it
  BeganWith before;              // of a trial
  std::uint32_t next_conjunct = 0;
  std::uint32_t depth = 0;
  std::uint32_t waits_for = kNothing;  // depth of what it waits for, while Partial
  std::uint64_t waits_since = 0;
  Vertex* trial = nullptr;  // of one of its disjuncts, while that runs
  List<Value> bounds;
  List<Task> tasks;
  List<Pattern> patterns;
  List<ListPart> lists;
  List<ScopeMark> scopes;
  List<CloseScope*> requirements;
  List<CloseScope*> bound_by;  // Evaluator::requirements, as of bound_at
  std::uint64_t bound_at = 0;
  List<PendingDisjunction> disjunctions;
  List<SeenDisjunction> seen_disjunctions;
  std::span<const Choice> choices;
  List<LeftDisjunct> left;  // as the values of the disjunction
  List<SeenVertex> seen;
  Told* told = nullptr;
  const Bottom* errors = nullptr;

  /// What it is said to be: the scalar, once there is one, before that what narrowed the kinds last.
  const Value& said() const { return said_; }
  Origin said_from() const { return {said_pos_, said_trail_, said_expr_}; }
  bool has_scalar() const { return said_.is_concrete_scalar(); }
  void say(const Value& value, const Origin& from) {
    said_ = value;
    said_pos_ = from.pos;
    said_trail_ = from.trail;
    said_expr_ = from.expr;
  }

  /// The first that made it a struct and has a place.
  Origin struct_from() const {
    return struct_expr_ == nullptr ? Origin{} : Origin{struct_expr_->pos, struct_trail_, struct_expr_};
  }
  void note_struct(const ir::Expr* expr, const RefTrail* trail) {
    if (struct_expr_ != nullptr && struct_expr_->pos != 0) return;
    struct_expr_ = expr;
    struct_trail_ = trail;
  }

  Told& tell(Arena& arena) {
    if (told == nullptr) told = arena.make<Told>();
    return *told;
  }
};
/// A validator at work; the same one on the same value below it would never end.
struct Judgement {
  Pos pos;
  Value subject;
};

/// A comparator at work, with the struct that stands for it: made once for all items that it compares.
struct Comparison {
  const Vertex* comparator = nullptr;
  const ir::Expr* less = nullptr;
  Vertex* x = nullptr;  // fields of the struct, given anew for each comparison
  Vertex* y = nullptr;
  Env* env = nullptr;
};

/// Of fields on their way out: as they are shown, or as they come.
enum class FieldOrder : std::uint8_t { Shown, Any };

/// What a reference leads to. Blocked: what it may lead to is not known yet.
enum class Found : std::uint8_t { Arc, Absent, Blocked, Error };
struct Lookup {
  Found found = Found::Absent;
  Vertex* arc = nullptr;
  Value value = {};          // the error, or a value that is no field
  Vertex* holder = nullptr;  // of Absent: guards that wait decide whether it gets a field of this name
  Label label = kNoLabel;
};

/// Fields of a wide struct by name; the first so many of them. Only looked up in, never gone through.
struct FieldIndex {
  std::uint32_t size = 0;
  std::unordered_map<std::uint32_t, Vertex*> fields;
};

static_assert(sizeof(Vertex) <= 104);  // most of the bytes of a render are these two
static_assert(sizeof(Node) <= 216);

}  // namespace slipway::cue
