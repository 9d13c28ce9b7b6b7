#include "cue/export/field_order.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "cue/eval/evaluator.h"

namespace slipway::cue {
namespace {

/// Fields declared somewhere, with those that may come first and last among them.
struct OrderedPart {
  std::set<std::size_t> fields;
  std::vector<std::size_t> firsts;
  std::vector<std::size_t> lasts;
};

/// What is said about the order of the fields of one vertex: edges lead from a field to one that comes later.
class Graph {
 public:
  explicit Graph(const Labels& labels) : labels_(labels) {}

  std::size_t node(Label label) {
    auto [at, is_new] = index_.try_emplace(label.word, nodes_.size());
    if (is_new) nodes_.push_back({label.is_index() ? std::to_string(label.index()) : std::string(labels_.text(label)), {}});
    return at->second;
  }
  bool has(Label label) const { return index_.contains(label.word); }

  OrderedPart one(Label label) {
    std::size_t at = node(label);
    return {{at}, {at}, {at}};
  }
  /// `next` follows `part`.
  void append(OrderedPart& part, OrderedPart next) {
    if (next.fields.empty()) return;
    if (part.fields.empty()) {
      part = std::move(next);
      return;
    }
    for (std::size_t from : part.lasts) {
      for (std::size_t to : next.firsts) link(from, to);
    }
    part.fields.insert(next.fields.begin(), next.fields.end());
    part.lasts = std::move(next.lasts);
  }
  static void join(OrderedPart& part, const OrderedPart& other) {
    part.fields.insert(other.fields.begin(), other.fields.end());
    part.firsts.insert(part.firsts.end(), other.firsts.begin(), other.firsts.end());
    part.lasts.insert(part.lasts.end(), other.lasts.begin(), other.lasts.end());
  }
  void link(std::size_t from, std::size_t to) {
    if (from != to) nodes_[from].next.push_back(to);
  }

  /// The rank of each field.
  std::vector<std::size_t> ranks() {
    find_components();
    std::vector<std::set<std::size_t>> next(groups_.size());
    std::vector<std::size_t> waits(groups_.size(), 0);
    for (std::size_t from = 0; from < nodes_.size(); ++from) {
      for (std::size_t to : nodes_[from].next) {
        if (group_of_[from] != group_of_[to] && next[group_of_[from]].insert(group_of_[to]).second) ++waits[group_of_[to]];
      }
    }
    std::set<std::pair<std::string_view, std::size_t>> ready;
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      std::sort(groups_[i].begin(), groups_[i].end(),
                [&](std::size_t a, std::size_t b) { return nodes_[a].name < nodes_[b].name; });
      if (waits[i] == 0) ready.emplace(nodes_[groups_[i][0]].name, i);
    }
    std::vector<std::size_t> out(nodes_.size(), 0);
    std::size_t rank = 0;
    while (!ready.empty()) {
      std::size_t at = ready.begin()->second;
      ready.erase(ready.begin());
      for (std::size_t one : groups_[at]) out[one] = rank++;
      for (std::size_t to : next[at]) {
        if (--waits[to] == 0) ready.emplace(nodes_[groups_[to][0]].name, to);
      }
    }
    return out;
  }

 private:
  struct Node {
    std::string name;
    std::vector<std::size_t> next;
  };

  // Tarjan's algorithm with its own stack: chains of fields are long.
  void find_components() {
    std::size_t n = nodes_.size();
    constexpr std::size_t kNone = static_cast<std::size_t>(-1);
    std::vector<std::size_t> number(n, kNone), low(n, 0), stack;
    std::vector<bool> on_stack(n, false);
    group_of_.assign(n, 0);
    std::size_t count = 0;
    for (std::size_t root = 0; root < n; ++root) {
      if (number[root] != kNone) continue;
      std::vector<std::pair<std::size_t, std::size_t>> work{{root, 0}};
      while (!work.empty()) {
        auto [at, edge] = work.back();
        if (edge == 0) {
          number[at] = low[at] = count++;
          stack.push_back(at);
          on_stack[at] = true;
        }
        if (edge < nodes_[at].next.size()) {
          ++work.back().second;
          std::size_t to = nodes_[at].next[edge];
          if (number[to] == kNone) {
            work.emplace_back(to, 0);
          } else if (on_stack[to]) {
            low[at] = std::min(low[at], number[to]);
          }
          // Coming back to the first edge would start the vertex again.
          continue;
        }
        work.pop_back();
        if (!work.empty()) low[work.back().first] = std::min(low[work.back().first], low[at]);
        if (low[at] != number[at]) continue;
        groups_.emplace_back();
        std::size_t member = kNone;
        while (member != at) {
          member = stack.back();
          stack.pop_back();
          on_stack[member] = false;
          group_of_[member] = groups_.size() - 1;
          groups_.back().push_back(member);
        }
      }
    }
  }

  const Labels& labels_;
  std::map<std::uint32_t, std::size_t> index_;
  std::vector<Node> nodes_;
  std::vector<std::vector<std::size_t>> groups_;
  std::vector<std::size_t> group_of_;
};

/// Fields that were said earlier: those of here, and those that whoever asked knew. REQUIRES: `below` lives longer.
class Seen {
 public:
  Seen() = default;
  static Seen beside(const Seen& below) {
    Seen out;
    out.below_ = &below;
    return out;
  }
  bool contains(std::size_t field) const {
    for (const Seen* at = this; at != nullptr; at = at->below_) {
      if (at->own_.contains(field)) return true;
    }
    return false;
  }
  /// False when it was there.
  bool insert(std::size_t field) { return !contains(field) && own_.insert(field).second; }
  void insert(const std::set<std::size_t>& fields) { own_.insert(fields.begin(), fields.end()); }
  /// All of them, to compare with.
  std::set<std::size_t> all() const {
    std::set<std::size_t> out;
    for (const Seen* at = this; at != nullptr; at = at->below_) out.insert(at->own_.begin(), at->own_.end());
    return out;
  }

 private:
  const Seen* below_ = nullptr;
  std::set<std::size_t> own_;
};

/// The order of one vertex, from the declarations it was made of.
class Order {
 public:
  Order(Evaluator& evaluator, Vertex* v) : evaluator_(evaluator), vertex_(v), graph_(evaluator.labels()) {
    if (v->node != nullptr) {
      for (const SeenVertex& one : v->node->seen) targets_.try_emplace(one.ref, one.arc);
    }
  }

  void sort() { sort(vertex_->arcs); }

  template <class Fields>
  void sort(Fields& fields) {
    (void)of_conjuncts(vertex_, {}, 0);
    // What nothing is known about keeps its order.
    OrderedPart others;
    for (const Vertex* field : vertex_->arcs) {
      if (!graph_.has(field->label)) graph_.append(others, graph_.one(field->label));
    }
    std::vector<std::size_t> ranks = graph_.ranks();
    std::sort(fields.begin(), fields.end(),
              [&](const Vertex* a, const Vertex* b) { return ranks[graph_.node(a->label)] < ranks[graph_.node(b->label)]; });
  }

 private:
  std::string_view file_of(Pos pos) const { return evaluator_.program().sources.locate(pos).file; }

  struct Source {
    const ir::Expr* expr;
    std::vector<Pos> places;
  };

  // A conjunct stands where it was referred to, from the outermost reference inwards, and last where it was written. What comes
  // from outside stands behind all that is written, as if it had been appended to the last file.
  static std::vector<Source> sources_of(const Vertex* v) {
    std::vector<Source> all;
    std::unordered_set<const ir::Expr*> known;
    for (const Conjunct& c : v->conjuncts) {
      if (!known.insert(c.expr).second) continue;
      Source source{c.expr, {c.expr->pos != 0 ? c.expr->pos : kAfterAll}};
      for (const RefTrail* at = c.trail; at != nullptr && source.places.size() < kMaxDepth; at = at->next)
        source.places.push_back(at->ref->pos);
      std::reverse(source.places.begin(), source.places.end());
      all.push_back(std::move(source));
    }
    std::sort(all.begin(), all.end(), [](const Source& a, const Source& b) { return a.places < b.places; });
    return all;
  }

  OrderedPart of_conjuncts(const Vertex* v, const Seen& before, int depth) {
    std::vector<Source> parts = sources_of(v);
    OrderedPart out;
    OrderedPart same_file;
    Seen seen = Seen::beside(before);
    std::string_view file;
    for (const Source& one : parts) {
      const bool is_written = one.places.front() != kAfterAll;
      std::string_view its = !is_written ? file : parts.size() > 1 ? file_of(one.places.front()) : std::string_view();
      if (its != file) {
        Graph::join(out, same_file);
        same_file = {};
        seen = Seen::beside(before);
        file = its;
      }
      append(same_file, of(*one.expr, seen, depth), seen);
    }
    Graph::join(out, same_file);
    return out;
  }

  // What was said earlier holds: fields in `seen` are left out.
  OrderedPart of(const ir::Expr& expr, const Seen& seen, int depth) {
    if (depth > kMaxDepth) return {};
    if (expr.op == ir::Op::Struct) return of_struct(ir::as<ir::Struct>(expr), seen, depth, false);
    if (expr.op == ir::Op::Comprehension) {
      const ir::Expr& body = *ir::as<ir::Comprehension>(expr).body;
      if (!has_given(body)) return {};
      if (body.op == ir::Op::Struct) return of_struct(ir::as<ir::Struct>(body), seen, depth + 1, true);
      return of(body, seen, depth + 1);
    }
    if (expr.op == ir::Op::And) {
      OrderedPart out;
      for (const ir::Expr* one : ir::as<ir::And>(expr).parts) Graph::join(out, of(*one, seen, depth + 1));
      return out;
    }
    if (expr.op == ir::Op::Or) return of_chosen(ir::as<ir::Or>(expr), seen, depth);
    if (expr.op == ir::Op::Constant) {
      const Value& value = ir::as<ir::Constant>(expr).value;
      return value.is_vertex() ? of_fields(value.vertex, seen) : OrderedPart{};
    }
    auto target = targets_.find(&expr);
    if (target == targets_.end()) return {};
    auto [known, is_new] = known_.try_emplace({target->second, seen.all()});
    if (is_new) known->second = of_conjuncts(target->second, seen, depth + 1);
    return known->second;
  }

  /// Whether the body of a comprehension was put in: one whose guard does not hold says nothing.
  bool has_given(const ir::Expr& body) const {
    if (body.op == ir::Op::Comprehension) return has_given(*ir::as<ir::Comprehension>(body).body);
    if (body.op != ir::Op::Struct) return true;
    std::span<const ir::Decl> decls = ir::as<ir::Struct>(body).decls;
    auto gives = [this](const ir::Decl& one) {
      if (one.kind == ir::DeclKind::Embed || one.kind == ir::DeclKind::Comprehension) return has_given(*one.value);
      if (one.kind != ir::DeclKind::Field) return true;
      const Vertex* field = evaluator_.find_arc(vertex_, one.label);
      return field != nullptr && std::any_of(field->conjuncts.begin(), field->conjuncts.end(),
                                             [&](const Conjunct& c) { return c.expr == one.value; });
    };
    return decls.empty() || std::any_of(decls.begin(), decls.end(), gives);
  }

  OrderedPart of_chosen(const ir::Or& expr, const Seen& seen, int depth) {
    if (vertex_->node == nullptr) return {};
    for (const Choice& choice : vertex_->node->choices) {
      if (choice.disjunction == &expr && choice.index < expr.parts.size())
        return of(*expr.parts[choice.index].value, seen, depth + 1);
    }
    return {};
  }

  OrderedPart of_fields(const Vertex* v, const Seen& seen) {
    OrderedPart out;
    for (const Vertex* field : deref(v)->arcs) {
      if (!seen.contains(graph_.node(field->label))) graph_.append(out, graph_.one(field->label));
    }
    return out;
  }

  /// What a struct is put together from: its own fields, and each thing it embeds.
  struct Piece {
    Pos pos;
    const ir::Expr* embedded;  // null for its own fields
    bool is_reference;
  };

  // Pieces follow each other as they stand in the source, its own fields where the last of them does; but a reference beside
  // those says nothing about them, unless all this is the body of a comprehension.
  OrderedPart of_struct(const ir::Struct& s, const Seen& before, int depth, bool is_body) {
    std::vector<Piece> pieces = pieces_of(s);
    std::size_t own = 0;
    while (own < pieces.size() && pieces[own].embedded != nullptr) ++own;
    std::size_t pair = pieces.size();  // the first of two that say nothing about each other
    if (!is_body && own < pieces.size()) {
      if (own + 1 < pieces.size() && pieces[own + 1].is_reference) {
        pair = own;
      } else if (own > 0 && pieces[own - 1].is_reference) {
        pair = own - 1;
      }
    }
    OrderedPart out;
    Seen seen = Seen::beside(before);
    auto part_of = [&](const Piece& piece) {
      return piece.embedded == nullptr ? of_own(s, seen) : of(*piece.embedded, seen, depth + 1);
    };
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (i != pair) {
        append(out, part_of(pieces[i]), seen);
        continue;
      }
      OrderedPart both = part_of(pieces[i]);
      seen.insert(both.fields);
      Graph::join(both, part_of(pieces[++i]));
      append(out, std::move(both), seen);
    }
    return out;
  }

  // What is referred to and only has names that were computed comes last.
  std::vector<Piece> pieces_of(const ir::Struct& s) {
    std::vector<Piece> pieces;
    Pos last = 0;
    bool has_own = false;
    for (const ir::Decl& decl : s.decls) {
      if (decl.kind == ir::DeclKind::Field || decl.kind == ir::DeclKind::Dynamic) {
        last = decl.pos;
        has_own = true;
      } else if (decl.kind != ir::DeclKind::Pattern) {
        bool is_last = ir::is_reference(*decl.value) && is_computed(*decl.value, 0);
        pieces.push_back({is_last ? kAfterAll : decl.value->pos, decl.value, !is_last && ir::is_reference(*decl.value)});
      }
    }
    std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) { return a.pos < b.pos; });
    auto is_before = [last](const Piece& one) { return one.pos < last; };
    auto at = std::find_if_not(pieces.begin(), pieces.end(), is_before);
    if (has_own) pieces.insert(at, {last, nullptr, false});
    return pieces;
  }

  OrderedPart of_own(const ir::Struct& s, const Seen& before) {
    OrderedPart out;
    Seen seen = Seen::beside(before);
    for (const ir::Decl& decl : s.decls) {
      if (decl.kind == ir::DeclKind::Field) {
        append(out, decl.label, seen);
      } else if (decl.kind == ir::DeclKind::Dynamic) {
        for (Label label : named_by(decl)) append(out, label, seen);
      }
    }
    return out;
  }
  void append(OrderedPart& part, Label label, Seen& seen) {
    if (seen.insert(graph_.node(label))) graph_.append(part, graph_.one(label));
  }
  void append(OrderedPart& part, OrderedPart next, Seen& seen) {
    seen.insert(next.fields);
    graph_.append(part, std::move(next));
  }

  /// Declares only fields whose names are computed.
  bool is_computed(const ir::Expr& expr, int depth) const {
    if (depth > kMaxDepth) return false;
    if (expr.op == ir::Op::Comprehension) return is_computed(*ir::as<ir::Comprehension>(expr).body, depth + 1);
    if (expr.op == ir::Op::Struct) {
      std::span<const ir::Decl> decls = ir::as<ir::Struct>(expr).decls;
      auto computes = [&](const ir::Decl& one) {
        return one.kind == ir::DeclKind::Dynamic ||
               (one.kind == ir::DeclKind::Comprehension && is_computed(*one.value, depth + 1));
      };
      return !decls.empty() && std::all_of(decls.begin(), decls.end(), computes);
    }
    auto target = targets_.find(&expr);
    if (target == targets_.end() || target->second->conjuncts.empty()) return false;
    const auto& all = target->second->conjuncts;
    return std::all_of(all.begin(), all.end(), [&](const Conjunct& one) { return is_computed(*one.expr, depth + 1); });
  }

  /// Fields whose names were computed.
  const std::vector<Label>& named_by(const ir::Decl& decl) {
    if (!has_computed_) {
      has_computed_ = true;
      for (const Vertex* field : vertex_->arcs) {
        for (const Conjunct& c : field->conjuncts) {
          std::vector<Label>& known = computed_[c.expr];
          if (known.empty() || !(known.back() == field->label)) known.push_back(field->label);
        }
      }
    }
    return computed_[decl.value];
  }

  static constexpr int kMaxDepth = 40;
  static constexpr Pos kAfterAll = static_cast<Pos>(-1);
  Evaluator& evaluator_;
  Vertex* vertex_;
  Graph graph_;
  std::unordered_map<const ir::Expr*, const Vertex*> targets_;
  std::map<std::pair<const Vertex*, std::set<std::size_t>>, OrderedPart> known_;  // only looked up
  std::unordered_map<const ir::Expr*, std::vector<Label>> computed_;
  bool has_computed_ = false;
};

void order_below(Evaluator& evaluator, Vertex* v, std::set<const Vertex*>& seen, int depth);

void order_value(Evaluator& evaluator, const Value& value, std::set<const Vertex*>& seen, int depth) {
  if (value.is_vertex()) order_below(evaluator, value.vertex, seen, depth);
  if (value.tag != Value::Tag::Disjunction) return;
  for (const Value& one : value.disjunction->values) order_value(evaluator, one, seen, depth);
}

void order_below(Evaluator& evaluator, Vertex* v, std::set<const Vertex*>& seen, int depth) {
  v = deref(v);
  if (depth > 500 || !seen.insert(v).second) return;
  if (v->base.tag != Value::Tag::List && v->arcs.size() > 1) Order(evaluator, v).sort();
  order_value(evaluator, v->base, seen, depth + 1);
  for (Vertex* field : v->arcs) order_below(evaluator, field, seen, depth + 1);
}

}  // namespace

void order_fields(Evaluator& evaluator, Vertex* root) {
  std::set<const Vertex*> seen;
  order_below(evaluator, root, seen, 0);
}

std::vector<Vertex*> fields_in_order(Evaluator& evaluator, Vertex* v) {
  std::vector<Vertex*> fields(v->arcs.begin(), v->arcs.end());
  if (v->base.tag != Value::Tag::List && fields.size() > 1) Order(evaluator, v).sort(fields);
  return fields;
}

}  // namespace slipway::cue
