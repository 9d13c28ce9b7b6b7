#include "cue/export/subsume.h"

#include <algorithm>
#include <vector>

#include "cue/eval/evaluator.h"

// Values are told apart a few tags at a time.
#pragma clang diagnostic ignored "-Wswitch-enum"

namespace slipway::cue {
namespace {

class Subsumption {
 public:
  Subsumption(Evaluator& evaluator, const SubsumeOptions& options) : evaluator_(evaluator), options_(options) {}

  bool vertices(Vertex* general, Vertex* instance) {
    if (++depth_ > 200) return false;
    evaluator_.complete(general);
    evaluator_.complete(instance);
    general = deref(general);
    instance = deref(instance);
    bool holds = general == instance || (values(base_of(general), base_of(instance)) && definitions(general, instance));
    --depth_;
    return holds;
  }

 private:
  // What a scalar or list has beside its value; a struct's are among its fields.
  bool definitions(Vertex* general, Vertex* instance) {
    if (general->base.tag == Value::Tag::Struct) return true;
    return std::all_of(general->arcs.begin(), general->arcs.end(), [&](Vertex* wanted) {
      if (wanted->label.is_index() || wanted->label.is_let() || wanted->mark != ArcMark::Member) return true;
      Vertex* found = evaluator_.find_arc(instance, wanted->label);
      return found != nullptr && found->mark == ArcMark::Member && vertices(wanted, found);
    });
  }

  static Value base_of(Vertex* v) {
    bool is_container = v->base.is_container();
    return is_container ? Value::of(v) : v->base;
  }
  static Value base_of(const Value& value) { return value.is_vertex() ? base_of(deref(value.vertex)) : value; }

  bool values(Value general, Value instance) {
    general = base_of(general);
    instance = base_of(instance);
    if (general.tag == Value::Tag::Type && general.kinds == kTop) return true;
    if (instance.is_bottom()) return !is_incomplete(instance.bottom->code) || general.is_bottom();
    if (general.is_bottom()) return false;
    if (options_.takes_defaults && instance.tag == Value::Tag::Disjunction) {
      Value chosen = evaluator_.default_of(instance);
      if (!chosen.is_bottom()) instance = base_of(chosen);
    }
    if (instance.tag == Value::Tag::Disjunction) return every_disjunct(general, instance);
    if (general.tag == Value::Tag::Disjunction) {
      const auto& all = general.disjunction->values;
      return std::any_of(all.begin(), all.end(), [&](const Value& one) { return values(one, instance); });
    }
    if (general.is_vertex() && instance.is_vertex()) return containers(general.vertex, instance.vertex);
    if (general.is_vertex()) return false;
    if (instance.is_vertex()) return general.tag == Value::Tag::Type && (general.kinds & kind_of(instance.vertex)) != 0;
    return scalars(general, instance);
  }

  bool every_disjunct(const Value& general, const Value& instance) {
    const auto& all = instance.disjunction->values;
    bool holds = std::all_of(all.begin(), all.end(), [&](const Value& one) { return values(general, one); });
    if (!holds || general.tag != Value::Tag::Disjunction || options_.is_schema) return holds;
    // Defaults must agree: what is chosen of the instance is among what is chosen of the general value.
    if (general.disjunction->defaults == 0 || options_.takes_defaults) return true;
    if (instance.disjunction->defaults == 0) return false;
    for (std::uint32_t i = 0; i < instance.disjunction->defaults; ++i) {
      bool is_among = false;
      for (std::uint32_t k = 0; k < general.disjunction->defaults && !is_among; ++k)
        is_among = values(general.disjunction->values[k], all[i]);
      if (!is_among) return false;
    }
    return true;
  }

  static KindMask kind_of(const Vertex* v) { return v->base.tag == Value::Tag::List ? kList : kStruct; }

  // Types, bounds and scalars: the meet with the general value changes nothing.
  bool scalars(const Value& general, const Value& instance) {
    if ((kinds_of(instance) & ~kinds_of(general)) != 0) return false;
    if (general.tag == Value::Tag::Type) return true;
    if (general.tag == Value::Tag::Conjunction) {
      const auto& parts = general.conjunction->parts;
      return std::all_of(parts.begin(), parts.end(), [&](const Value& one) {
        return (one.tag == Value::Tag::Type && (kinds_of(instance) & ~one.kinds) == 0) || scalars(one, instance);
      });
    }
    if (instance.tag == Value::Tag::Conjunction) {
      const auto& parts = instance.conjunction->parts;
      if (std::any_of(parts.begin(), parts.end(), [&](const Value& one) { return implies(one, general); })) return true;
    }
    if (instance.is_concrete_scalar() && general.is_concrete_scalar()) return evaluator_.is_equal(general, instance);
    return implies(instance, general) || is_unchanged(general, instance);
  }

  bool is_unchanged(const Value& general, const Value& instance) {
    if (!instance.is_concrete_scalar()) return evaluator_.show(general) == evaluator_.show(instance);
    Value meet = base_of(evaluator_.unify(general, instance));
    return meet.is_concrete_scalar() && evaluator_.is_equal(meet, instance);
  }

  /// Whether a bound says no less than another one.
  bool implies(const Value& a, const Value& b) {
    if (a.tag != Value::Tag::Bound || b.tag != Value::Tag::Bound) return false;
    const Bound& narrow = *a.bound;
    const Bound& wide = *b.bound;
    bool is_same = evaluator_.show(narrow.operand) == evaluator_.show(wide.operand);
    if (narrow.op == wide.op && is_same) return true;
    if (narrow.op == Tok::Mat || narrow.op == Tok::NMat || wide.op == Tok::Mat || wide.op == Tok::NMat) return false;
    bool is_low = wide.op == Tok::Gtr || wide.op == Tok::Geq;
    bool is_high = wide.op == Tok::Lss || wide.op == Tok::Leq;
    bool from_low = narrow.op == Tok::Gtr || narrow.op == Tok::Geq;
    bool from_high = narrow.op == Tok::Lss || narrow.op == Tok::Leq;
    if (wide.op == Tok::Neq) return (from_low || from_high) && !is_unchanged(a, wide.operand);
    if (!((is_low && from_low) || (is_high && from_high))) return false;
    if (is_same) return wide.op == Tok::Geq || wide.op == Tok::Leq || narrow.op == wide.op;
    return is_unchanged(b, narrow.operand);
  }

  bool containers(Vertex* general, Vertex* instance) {
    if (kind_of(general) != kind_of(instance)) return false;
    if (kind_of(general) == kList) return lists(general, instance);
    return structs(general, instance);
  }

  std::vector<Vertex*> items_of(const Vertex* list) {
    std::vector<Vertex*> out;
    for (Vertex* one : list->arcs) {
      if (one->label.is_index()) out.push_back(one);
    }
    return out;
  }

  bool lists(Vertex* general, Vertex* instance) {
    std::vector<Vertex*> a = items_of(general);
    std::vector<Vertex*> b = items_of(instance);
    if (b.size() < a.size() || (b.size() > a.size() && !general->is_open_list)) return false;
    bool is_open = instance->is_open_list && !options_.takes_defaults && !options_.is_final;
    if (is_open && !general->is_open_list) return false;
    for (std::size_t i = 0; i < b.size(); ++i) {
      if (i < a.size() ? !vertices(a[i], b[i]) : !is_unchanged_by(general, instance)) return false;
    }
    return !is_open || is_unchanged_by(general, instance);
  }

  // By the meet: what further items must be has no vertex of its own.
  bool is_unchanged_by(Vertex* general, Vertex* instance) {
    Value meet = evaluator_.unify(Value::of(general), Value::of(instance));
    if (!meet.is_vertex()) return false;
    evaluator_.complete(meet.vertex);
    Vertex* both = deref(meet.vertex);
    if (both->base.is_bottom() || both->child_error != nullptr) return false;
    return evaluator_.show(Value::of(both)) == evaluator_.show(Value::of(instance));
  }

  bool structs(Vertex* general, Vertex* instance) {
    for (Vertex* wanted : general->arcs) {
      if (wanted->label.is_let() || wanted->mark == ArcMark::Absent) continue;
      Vertex* found = evaluator_.find_arc(instance, wanted->label);
      if (found == nullptr || found->mark == ArcMark::Absent) {
        if (wanted->mark != ArcMark::Optional) return false;
        // A field that may still come must fit.
        if (!options_.is_final && !is_any(wanted) && evaluator_.allows_field(instance, wanted->label)) return false;
        continue;
      }
      if (found->mark > wanted->mark || !vertices(wanted, found)) return false;
    }
    bool is_checked = general->is_closed && !options_.is_final;
    if (is_checked && !instance->is_closed && !options_.is_schema) return false;
    for (Vertex* other : instance->arcs) {
      if (!other->label.is_regular() || other->mark == ArcMark::Absent) continue;
      Vertex* known = evaluator_.find_arc(general, other->label);
      if (known != nullptr && known->mark != ArcMark::Absent) continue;
      bool is_judged = options_.is_schema ? options_.is_final : other->mark == ArcMark::Member || !options_.is_final;
      if (general->is_closed && is_judged && !evaluator_.allows_field(general, other->label)) return false;
      if (options_.is_schema && general->is_closed) continue;
      if (!is_unchanged_by(general, instance)) return false;
    }
    return true;
  }

  bool is_any(Vertex* v) {
    evaluator_.complete(v);
    const Value& base = deref(v)->base;
    return base.tag == Value::Tag::Type && base.kinds == kTop;
  }

  Evaluator& evaluator_;
  SubsumeOptions options_;
  int depth_ = 0;
};

}  // namespace

bool subsumes(Evaluator& evaluator, Vertex* general, Vertex* instance, const SubsumeOptions& options) {
  return Subsumption(evaluator, options).vertices(general, instance);
}

}  // namespace slipway::cue
