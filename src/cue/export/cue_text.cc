// Values as CUE text: what is known, without the references it came from.
#include "cue/evaluation.h"
#include "cue/syntax/literal.h"

namespace slipway::cue {
namespace {

class Printer {
 public:
  explicit Printer(Evaluator& evaluator) : evaluator_(evaluator) {}

  std::string top(Vertex* v) {
    evaluator_.complete(v);
    const Vertex* real = deref(v);
    if (real->base.tag == Value::Tag::Struct) return fields(real, 0);
    return vertex(v, 0);
  }

 private:
  std::string vertex(Vertex* v, int tabs) {
    evaluator_.complete(v);
    if (tabs > 100) return "_";
    const Vertex* real = deref(v);
    if (real->base.tag == Value::Tag::List) return list(real, tabs);
    if (real->base.tag != Value::Tag::Struct) return value(real->base, tabs);
    std::string body = fields(real, tabs + 1);
    return body.empty() ? "{}" : "{\n" + body + std::string(static_cast<std::size_t>(tabs), '\t') + "}";
  }

  std::string list(const Vertex* v, int tabs) {
    std::string out;
    for (Vertex* item : v->arcs) {
      if (item->label.is_index()) out += (out.empty() ? "" : ", ") + vertex(item, tabs);
    }
    if (v->is_open_list) out += out.empty() ? "..." : ", ...";
    return "[" + out + "]";
  }

  std::string fields(const Vertex* v, int tabs) {
    std::string out;
    for (Vertex* field : v->arcs) {
      if (field->label.is_let() || field->label.is_index() || field->mark == ArcMark::Absent) continue;
      out += std::string(static_cast<std::size_t>(tabs), '\t') + evaluator_.labels().describe(field->label);
      out += field->mark == ArcMark::Optional ? "?" : field->mark == ArcMark::Required ? "!" : "";
      out += ": " + vertex(field, tabs) + "\n";
    }
    return out;
  }

  std::string value(const Value& v, int tabs) {
    if (v.tag == Value::Tag::Vertex) return vertex(v.vertex, tabs);
    if (v.tag == Value::Tag::String) return quote_multiline(v.str(), tabs + 1);
    if (v.tag == Value::Tag::Bottom) return "_|_ // " + evaluator_.message(*v.bottom);
    if (v.tag != Value::Tag::Disjunction) return evaluator_.show(v);
    std::string out;
    for (std::size_t i = 0; i < v.disjunction->values.size(); ++i) {
      out += (i > 0 ? " | " : "") + std::string(i < v.disjunction->defaults ? "*" : "") + value(v.disjunction->values[i], tabs);
    }
    return out;
  }

  Evaluator& evaluator_;
};

}  // namespace

std::string cue_text(Evaluator& evaluator, Vertex* v) { return Printer(evaluator).top(v); }

}  // namespace slipway::cue
