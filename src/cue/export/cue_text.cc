// Values as CUE text: what is known, without the references it came from.
#include <algorithm>
#include <set>

#include "cue/evaluation.h"
#include "cue/export/source_text.h"
#include "cue/export/spelling.h"
#include "cue/export/text_options.h"
#include "cue/syntax/literal.h"
#include "cue/syntax/unicode.h"

namespace slipway::cue {
namespace {

/// One field as it will be printed: its labels, then a value of one line or more.
struct Line {
  std::string labels;  // "a: b:"
  std::string value;
  std::string docs;
  std::string attributes = {};  // behind the value
  int depth = 1;

  bool is_single() const { return value.find('\n') == std::string::npos && docs.empty(); }
};

struct TextRange {
  std::string_view name;
  std::string_view first;
  std::string_view last;
};
constexpr TextRange kRanges[] = {{"uint8", "0", "255"},
                                 {"uint16", "0", "65535"},
                                 {"uint32", "0", "4294967295"},
                                 {"uint64", "0", "18446744073709551615"},
                                 {"uint128", "0", "340282366920938463463374607431768211455"},
                                 {"int8", "-128", "127"},
                                 {"int16", "-32768", "32767"},
                                 {"int32", "-2147483648", "2147483647"},
                                 {"int64", "-9223372036854775808", "9223372036854775807"},
                                 {"rune", "0", "1114111"}};

class CuePrinter {
 public:
  CuePrinter(Evaluator& evaluator, const TextOptions& options) : evaluator_(evaluator), options_(options) {}

  std::string top(Vertex* v) {
    evaluator_.complete(v);
    const Vertex* real = chosen(v);
    open_.push_back(real);
    std::string out = real->base.tag == Value::Tag::Struct ? own_attributes(real, 0) + fields(real, 0) : vertex(v, 0);
    if (packages_.empty()) return out;
    // What stays an expression needs its packages.
    std::string imports;
    for (const std::string& path : packages_) imports += (packages_.size() > 1 ? options_.indent : "") + quote(path) + "\n";
    return (packages_.size() > 1 ? "import (\n" + imports + ")\n" : "import " + imports) + "\n" + out;
  }

 private:
  // With defaults taken where that is asked for.
  const Vertex* chosen(Vertex* v) {
    const Vertex* real = deref(v);
    if (!options_.is_final || real->base.tag != Value::Tag::Disjunction) return real;
    Value base = evaluator_.default_of(real->base);
    if (!base.is_vertex()) return real;
    evaluator_.complete(base.vertex);
    return deref(base.vertex);
  }

  std::string pad(int depth) const {
    std::string out;
    for (int i = 0; i < depth; ++i) out += options_.indent;
    return out;
  }

  std::string vertex(Vertex* v, int depth) {
    evaluator_.complete(v);
    if (depth > 100) return "_";
    const Vertex* real = chosen(v);
    if (real->base.tag == Value::Tag::List) return list(real, depth);
    if (std::string_view spelling = spelling_of_item(evaluator_, real); !spelling.empty()) return tidy(spelling);
    if (real->base.tag != Value::Tag::Struct) return value(real->base, depth, v);
    open_.push_back(real);
    std::string out = object(real, depth);
    open_.pop_back();
    return out;
  }

  std::string object(const Vertex* real, int depth) {
    if (options_.joins_single_fields && visible(real).size() == 1) {
      std::vector<Line> all = lines(real, depth);
      if (all[0].is_single()) return "{" + all[0].labels + " " + all[0].value + "}";
    }
    std::string body = own_attributes(real, depth + 1) + fields(real, depth + 1);
    return body.empty() ? "{}" : "{\n" + body + pad(depth) + "}";
  }

  std::string list(const Vertex* v, int depth) {
    std::string out;
    for (Vertex* item : v->arcs) {
      if (!item->label.is_index()) continue;
      std::string text = vertex(item, depth);
      // A comment ends its line, so the comma comes before it.
      if (auto comment = text.find(" // "); text.starts_with("_|_") && comment != std::string::npos)
        text = text.substr(0, comment) + "," + text.substr(comment) + "\n" + pad(depth);
      bool after_comment = !out.empty() && (out.ends_with('\n') || out.find_last_not_of('\t') != out.size() - 1);
      out += (out.empty() || after_comment ? "" : ", ") + text;
    }
    if (v->is_open_list && !options_.is_final) out += out.empty() ? "..." : ", ...";
    return "[" + out + "]";
  }

  std::vector<Vertex*> visible(const Vertex* v) const {
    std::vector<Vertex*> out;
    for (Vertex* field : v->arcs) {
      if (field->label.is_let() || field->label.is_index() || field->mark == ArcMark::Absent) continue;
      bool is_shown = options_.has_optional || (options_.has_required && field->mark == ArcMark::Required);
      if (field->mark != ArcMark::Member && !is_shown) continue;
      if (field->label.is_hidden() ? !options_.has_hidden : !field->label.is_regular() && !options_.has_definitions) continue;
      out.push_back(field);
    }
    return out;
  }

  std::string label(const Vertex* field) const {
    std::string out = evaluator_.labels().describe(field->label);
    return out + (field->mark == ArcMark::Optional ? "?" : field->mark == ArcMark::Required ? "!" : "") + ":";
  }

  std::vector<Line> lines(const Vertex* v, int depth) {
    std::vector<Line> out;
    for (Vertex* field : visible(v)) {
      Line line{label(field), "", docs(field, depth), attributes(field)};
      Vertex* at = field;
      while (options_.joins_single_fields && line.depth < 50 && !repeats(at)) {
        evaluator_.complete(at);
        const Vertex* real = chosen(at);
        if (real->base.tag != Value::Tag::Struct) break;
        std::vector<Vertex*> inner = visible(real);
        if (inner.size() != 1 || !docs(inner[0], depth).empty()) break;
        at = inner[0];
        line.labels += " " + label(at);
        ++line.depth;
      }
      line.value = repeats(at) ? expressions(at) : vertex(at, depth);
      out.push_back(std::move(line));
    }
    return out;
  }

  // An optional field that leads back to what is around it, on the way to it or at any time before.
  bool repeats(Vertex* field) {
    if (field->mark == ArcMark::Member) return false;
    evaluator_.complete(field);
    const Vertex* real = deref(field);
    bool is_cyclic = real->base.is_bottom() && real->base.bottom->code == Code::StructuralCycle;
    if (is_cyclic || std::ranges::find(open_, real) != open_.end()) repeats_.insert(field);
    return repeats_.contains(field);
  }

  std::string docs(const Vertex* field, int depth) const {
    std::string out;
    if (!options_.has_docs || field->info == nullptr) return out;
    for (std::string_view line : field->info->doc) out += pad(depth) + std::string(line) + "\n";
    return out;
  }

  // Of every declaration of a field, each text once.
  std::string attributes(const Vertex* field) const {
    std::vector<std::string_view> all;
    if (options_.has_attributes && field->info != nullptr) {
      for (const ast::Attribute* one : field->info->attributes) add_text(*one, all);
    }
    std::string out;
    for (std::string_view one : all) out += (out.empty() ? "" : " ") + std::string(one);
    return out;
  }

  // Those a struct has of itself, one per line.
  std::string own_attributes(const Vertex* v, int depth) const {
    std::vector<std::string_view> all;
    for (const Conjunct& c : v->conjuncts) {
      if (!options_.has_attributes || c.expr == nullptr || c.expr->op != ir::Op::Struct) continue;
      for (const ast::Attribute* one : ir::as<ir::Struct>(*c.expr).attributes) add_text(*one, all);
    }
    std::string out;
    for (std::string_view one : all) out += pad(depth) + std::string(one) + "\n";
    return out;
  }

  static void add_text(const ast::Attribute& one, std::vector<std::string_view>& all) {
    if (std::ranges::find(all, one.text) == all.end()) all.push_back(one.text);
  }

  bool stands_in_column(const Line& line) const { return options_.lists_in_columns || !line.value.starts_with('['); }

  std::string fields(const Vertex* v, int depth) {
    std::vector<Line> all = lines(v, depth);
    std::string out;
    for (std::size_t i = 0; i < all.size();) {
      // Neighbours of one line each stand in columns.
      std::size_t begin = i;
      std::size_t end = i + 1;
      std::size_t width = count_runes(all[i].labels);
      bool joins = options_.is_in_columns && all[i].value.find('\n') == std::string::npos && stands_in_column(all[i]);
      while (joins && end < all.size() && all[end].is_single() && all[end].depth == all[i].depth && stands_in_column(all[end]))
        width = std::max(width, count_runes(all[end++].labels));
      for (; i < end; ++i) {
        if (!all[i].docs.empty() && !out.empty()) out += "\n";
        out += all[i].docs + pad(depth) + all[i].labels + std::string(width - count_runes(all[i].labels) + 1, ' ') +
               all[i].value + behind(all, i, begin, end) + "\n";
      }
    }
    return out;
  }

  // The attributes of a line, in a column with those of its neighbours that have some.
  static std::string behind(const std::vector<Line>& all, std::size_t i, std::size_t begin, std::size_t end) {
    if (all[i].attributes.empty()) return "";
    if (end - begin == 1) return " " + all[i].attributes;
    std::size_t from = i;
    while (from > begin && !all[from - 1].attributes.empty()) --from;
    std::size_t width = 0;
    for (; from < end && !all[from].attributes.empty(); ++from) width = std::max(width, count_runes(all[from].value));
    return std::string(width - count_runes(all[i].value) + 1, ' ') + all[i].attributes;
  }

  std::string value(const Value& v, int depth, Vertex* holder) {
    if (v.tag == Value::Tag::Vertex) return vertex(v.vertex, depth);
    if (v.tag == Value::Tag::String || v.tag == Value::Tag::Bytes) return text(v, depth);
    if (v.tag == Value::Tag::Number) return number(v);
    if (v.tag == Value::Tag::Bound) return bound(v, depth);
    if (v.tag == Value::Tag::Validator) return validator(*v.validator, depth);
    if (v.tag == Value::Tag::Builtin)  // one that judges is a constraint when it stands alone
      return function(*v.builtin) + (v.builtin->judges() && v.builtin->params.size() == 1 ? "()" : "");
    if (v.tag == Value::Tag::Bottom) {
      if (std::string source = unknown(v, holder); !source.empty()) return source;
      std::string path = options_.is_in_columns && holder != nullptr ? evaluator_.path_of(holder) : "";
      std::vector<const Bottom*> all;
      for (const Bottom* at = v.bottom; at != nullptr; at = at->next) evaluator_.expand(*at, all);
      std::string more = all.size() > 1 ? " (and " + std::to_string(all.size() - 1) + " more errors)" : "";
      return "_|_ // " + (path.empty() ? "" : path + ": ") + evaluator_.message(*all[0]) + more;
    }
    if (v.tag == Value::Tag::Conjunction) return conjunction(*v.conjunction, depth);
    if (v.tag != Value::Tag::Disjunction) return evaluator_.show(v);
    if (options_.is_final) {
      Value chosen_value = evaluator_.default_of(v);
      if (!chosen_value.is_bottom()) return value(chosen_value, depth, holder);
    }
    // Of several defaults none is taken, but nothing else would be.
    bool is_narrowed = options_.is_final && v.disjunction->defaults > 0;
    std::size_t count = is_narrowed ? v.disjunction->defaults : v.disjunction->values.size();
    std::string out;
    for (std::size_t i = 0; i < count; ++i) {
      out += (i > 0 ? " | " : "") + std::string(i < v.disjunction->defaults && !is_narrowed ? "*" : "") +
             value(v.disjunction->values[i], depth, nullptr);
    }
    return out;
  }

  // As the formatter leaves a number: a digit on both sides of the dot.
  static std::string tidy(std::string_view spelling) {
    std::string out(spelling);
    bool is_number = std::isdigit(static_cast<unsigned char>(out[0])) != 0 || out[0] == '.';
    if (!is_number) return out;
    if (out.starts_with('.')) out.insert(0, "0");
    if (out.ends_with('.')) out += "0";
    return out;
  }

  // Exponents are told with a small letter here, with a large one in errors and data.
  std::string number(const Value& v) const {
    std::string out = evaluator_.show(v);
    std::replace(out.begin(), out.end(), 'E', 'e');
    return out;
  }

  std::string bound(const Value& v, int depth) {
    std::string op = v.bound->op == Tok::Eql ? "==" : std::string(name(v.bound->op));
    return op + value(v.bound->operand, depth, nullptr);
  }

  std::string function(const Builtin& builtin) {
    if (builtin.package.empty()) return std::string(builtin.name);
    packages_.insert(std::string(builtin.package));
    return std::string(builtin.package.substr(builtin.package.rfind('/') + 1)) + "." + std::string(builtin.name);
  }

  std::string validator(const Validator& v, int depth) {
    std::string out = function(*v.builtin) + "(";
    for (std::size_t i = 0; i < v.args.size(); ++i) out += (i > 0 ? ", " : "") + value(v.args[i], depth, nullptr);
    return out + ")";
  }

  // Integers from one number to another under the name of their range, or as uint with what remains.
  std::string conjunction(const Conjunction& all, int depth) {
    const Bound* low = nullptr;
    const Bound* high = nullptr;
    bool is_int = false;
    std::string others;
    for (const Value& part : all.parts) {
      const Bound* bound = part.tag == Value::Tag::Bound && part.bound->operand.is_number() ? part.bound : nullptr;
      if (part.tag == Value::Tag::Type && part.kinds == kInt) {
        is_int = true;
      } else if (bound != nullptr && low == nullptr && (bound->op == Tok::Geq || bound->op == Tok::Gtr)) {
        low = bound;
      } else if (bound != nullptr && high == nullptr && (bound->op == Tok::Leq || bound->op == Tok::Lss)) {
        high = bound;
      } else {
        others += " & " + value(part, depth, nullptr);
      }
    }
    if (!is_int || low == nullptr || high == nullptr) return all_parts(all, depth);
    std::string from = evaluator_.show(low->operand);
    std::string to = evaluator_.show(high->operand);
    if (low->op == Tok::Geq && high->op == Tok::Leq) {
      for (const TextRange& range : kRanges) {
        if (range.first == from && range.last == to) return std::string(range.name) + others;
      }
    }
    std::string out = from.starts_with('-') ? "int" : "uint";
    if (from != "0" || low->op != Tok::Geq) out += " & " + std::string(name(low->op)) + from;
    return out + " & " + std::string(name(high->op)) + to + others;
  }

  std::string all_parts(const Conjunction& all, int depth) {
    std::string out;
    for (const Value& part : all.parts) out += (out.empty() ? "" : " & ") + value(part, depth, nullptr);
    return out;
  }

  // The expressions of a value that is not known yet.
  std::string unknown(const Value& v, const Vertex* holder) {
    if (!options_.has_expressions || holder == nullptr || !is_incomplete(v.bottom->code) || holder->conjuncts.empty())
      return "";
    return expressions(holder);
  }

  std::string expressions(const Vertex* holder) {
    std::vector<std::string> all;
    for (const Conjunct& c : holder->conjuncts) {
      std::string one = source_text(evaluator_, *c.expr, packages_);
      if (holder->conjuncts.size() > 1 && c.expr->op == ir::Op::Or) one = "(" + one + ")";
      if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(std::move(one));
    }
    std::string out;
    for (const std::string& one : all) out += (out.empty() ? "" : " & ") + one;
    return out;
  }

  std::string text(const Value& v, int depth) const {
    std::string out =
        quote(v.str(), {.is_bytes = v.tag == Value::Tag::Bytes, .tabs = depth + 1, .is_multiline_optional = true});
    if (options_.indent == "\t") return out;
    // Tabs at the start of lines become this form's indentation.
    std::string changed;
    bool at_start = false;
    for (char c : out) {
      if (c == '\t' && at_start) {
        changed += options_.indent;
        continue;
      }
      at_start = c == '\n';
      changed += c;
    }
    return changed;
  }

  Evaluator& evaluator_;
  const TextOptions& options_;
  std::vector<const Vertex*> open_;  // inside each other
  std::set<const Vertex*> repeats_;  // only looked up in
  std::set<std::string> packages_;   // that expressions call
};

}  // namespace

std::string cue_text(Evaluator& evaluator, Vertex* v, const TextOptions& options) {
  return CuePrinter(evaluator, options).top(v);
}

std::string cue_text(Evaluator& evaluator, Vertex* v) { return cue_text(evaluator, v, TextOptions{}); }

}  // namespace slipway::cue
