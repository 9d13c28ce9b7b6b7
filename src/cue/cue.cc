#include "cue/cue.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "base/count.h"
#include "cue/evaluation.h"
#include "cue/syntax/literal.h"
#include "json/text.h"

// Values are told apart a few tags at a time.
#pragma clang diagnostic ignored "-Wswitch-enum"

namespace slipway::cue {

std::string describe(const Errors& errors) {
  std::string out;
  for (const Error& one : errors) {
    out += (one.path.empty() ? "" : one.path + ": ") + one.message;
    // What sums up several has no place for more.
    if (!one.hint.empty() && !one.message.ends_with(':')) out += " (" + one.hint + ")";
    out += one.positions.empty() ? "\n" : ":\n";
    for (const Position& at : one.positions) out += fmt::format("    {}:{}:{}\n", at.file, at.line, at.column);
  }
  return out;
}

namespace {

json::Value json_of(const Error& one) {
  json::ArrayBuilder positions;
  for (const Position& at : one.positions)
    positions.add(json::object({{"file", at.file}, {"line", at.line}, {"column", at.column}}));
  json::Value out =
      json::object({{"code", one.code}, {"path", one.path}, {"message", one.message}, {"positions", positions.build()}});
  if (!one.expected.empty()) out = out.with("expected", one.expected);
  if (!one.got.empty()) out = out.with("got", one.got);
  if (!one.hint.empty()) out = out.with("hint", one.hint);
  if (!one.closest.empty()) out = out.with("closest", json_of(one.closest[0]));
  return out;
}

}  // namespace

json::Value to_json(const Errors& errors) {
  json::ArrayBuilder out;
  for (const Error& one : errors) out.add(json_of(one));
  return out.build();
}

namespace {

constexpr Pos kForeign = 0x80000000;      // from here on: places in other programs
constexpr int kMaxCollectDepth = 60'000;  // more than an evaluation may be deep
constexpr int kNarrowDepth = 500;         // what fits the caller's stack; the rest goes on upon a wide one

void locate_into(const SourceMap& sources, Pos pos, std::vector<Position>& out) {
  Location at = sources.locate(pos);
  if (at.line > 0) out.push_back({std::string(at.file), at.line, at.column});
}

}  // namespace

std::expected<Program, Errors> compile(const std::vector<SourceText>& files, const Packages& packages,
                                       const CompileOptions& options) {
  std::shared_ptr<const ProgramData> data = compile_program(files, packages, options);
  if (data->diagnostics.empty()) return Program(data);
  Errors errors;
  for (const Diagnostic& one : data->diagnostics) {
    Error error{"syntax", one.path, one.message, {}};
    locate_into(data->sources, one.pos, error.positions);
    locate_into(data->sources, one.other, error.positions);
    errors.push_back(std::move(error));
  }
  return std::unexpected(std::move(errors));
}

void Evaluation::add_position(Pos pos, std::vector<Position>& out) const {
  if (auto read = evaluator_.place_in_text(pos)) {
    out.push_back({read->reader, read->line, read->column});
  } else if (pos >= kForeign) {
    out.push_back(foreign_positions_[pos - kForeign]);
  } else {
    locate_into(program_.data().sources, pos, out);
  }
}

Pos Evaluation::foreign_position(const Evaluation& other, Pos pos) {
  std::vector<Position> found;
  other.add_position(pos, found);
  if (found.empty()) return 0;
  foreign_positions_.push_back(std::move(found[0]));
  return kForeign + static_cast<Pos>(foreign_positions_.size() - 1);
}

namespace {

// Files that were named, before texts that functions read; those in the order of their names.
auto order_of(const Position& at) {
  std::string_view file = at.file;
  int rank = file.starts_with('-') ? 0 : file.starts_with('.') || file.starts_with('/') ? 1 : 2;
  if (file.starts_with("./")) file.remove_prefix(2);
  return std::tuple(rank, file, at.line, at.column);
}

bool is_before(const Position& a, const Position& b) { return order_of(a) < order_of(b); }
bool is_same_place(const Position& a, const Position& b) { return order_of(a) == order_of(b); }

}  // namespace

Error Evaluation::error_of(const Bottom& reason) {
  Error error{std::string(code_name(reason.code)), evaluator_.path_of(reason.node), evaluator_.message(reason), {}};
  advise(reason, error);
  if (!reason.is_unplaced) add_position(reason.pos, error.positions);
  error.is_placed = !error.positions.empty() && !reason.is_close_check;  // a field that is not allowed belongs to its path
  add_places(evaluator_.places_of(reason), error.positions);
  return error;
}

// What takes part in an error, in the order of the places, behind the place it is told at.
void Evaluation::add_places(const std::vector<Pos>& places, std::vector<Position>& out) {
  std::vector<Position> found;
  for (Pos one : places) add_position(one, found);
  if (!out.empty()) std::erase_if(found, [&](const Position& one) { return is_same_place(one, out[0]); });
  std::sort(found.begin(), found.end(), is_before);
  found.erase(std::unique(found.begin(), found.end(), is_same_place), found.end());
  out.insert(out.end(), found.begin(), found.end());
}

// Where the value of a field comes from, as far as it was written out.
void Evaluation::add_sources(const Vertex* v, std::vector<Position>& out) {
  std::vector<Pos> places;
  evaluator_.report_sources(v, places);
  if (places.empty()) places.push_back(v->pos);
  add_places(places, out);
}

// What several fields share is looked at once when nothing is wrong in it.
void Evaluation::collect(Vertex* v, Demand demand, Errors& out, int depth) {
  evaluator_.complete(v);
  if (out.size() > 100 || (depth > 0 && is_told_elsewhere(v))) return;
  if (depth == kNarrowDepth || depth > kMaxCollectDepth) {
    const bool is_done = depth == kNarrowDepth && on_wide_stack([&] { collect(v, demand, out, depth + 1); });
    if (is_done) return;
    out.push_back({"eval", evaluator_.path_of(v), kTooDeep, {}});
    out.back().is_placed = false;
    return;
  }
  if (v->shared == nullptr) return collect_here(v, demand, out, depth);
  if (clean_.contains({deref(v), demand})) return;
  std::size_t before = out.size();
  collect_here(v, demand, out, depth);
  if (out.size() == before) clean_.insert({deref(v), demand});
}

// What is wrong in a field is not told of what only names it.
bool Evaluation::is_told_elsewhere(Vertex* v) {
  const Vertex* real = deref(v);
  const Bottom* wrong = real->base.is_bottom() ? real->base.bottom : real->child_error;
  bool is_circle = wrong != nullptr && (wrong->code == Code::Cycle || wrong->code == Code::StructuralCycle);
  // That a field is not allowed is wrong where it stands, not where its value comes from.
  const bool is_own = wrong != nullptr && wrong->is_close_check && wrong->node == v;
  if (wrong == nullptr || is_circle || is_own) return false;
  const Vertex* named = evaluator_.only_reference(v);
  if (named == nullptr || named == v || named->mark != ArcMark::Member) return false;
  for (const Vertex* at = named->parent; at != nullptr; at = at->parent) {
    if (at == v || (at != root_ && (at->label.is_none() || at->label.is_let() || at->mark != ArcMark::Member))) return false;
    if (at == root_) return !named->label.is_let();
  }
  return false;
}

void Evaluation::collect_here(Vertex* v, Demand demand, Errors& out, int depth) {
  Vertex* real = deref(v);
  Value base = evaluator_.default_of(real->base);
  if (base.is_bottom()) {
    bool is_own = real->base.is_bottom();
    if (!is_own && demand == Demand::Concrete && real->base.tag == Value::Tag::Disjunction) {
      Error error{"incomplete", evaluator_.path_of(v), fmt::format("incomplete value {}", evaluator_.show(real->base)), {}};
      error.expected = evaluator_.show(real->base);
      error.is_placed = false;
      add_sources(v, error.positions);
      out.push_back(std::move(error));
      return;
    }
    // Items that contradict each other are told before lengths that do.
    for (std::uint32_t i = 0; is_own && i < real->arcs.size(); ++i) {
      if (real->arcs[i]->label.is_index()) collect(real->arcs[i], Demand::Valid, out, depth + 1);
    }
    for (const Bottom* at = base.bottom; at != nullptr; at = at->next) {
      if (demand == Demand::Valid && is_incomplete(at->code)) continue;
      std::vector<const Bottom*> all;
      evaluator_.expand(*at, all);
      for (const Bottom* one : all) {
        Error error = error_of(*one);
        if (error.path.empty() || (!is_own && one == all[0])) error.path = evaluator_.path_of(v);
        out.push_back(std::move(error));
      }
    }
    return;
  }
  if (base.is_vertex()) real = deref(base.vertex);
  bool is_container = real->base.is_container();
  if (!base.is_vertex() && !is_container && !base.is_concrete_scalar() && demand == Demand::Concrete) {
    Error error{"incomplete", evaluator_.path_of(v), fmt::format("incomplete value {}", evaluator_.show(base)), {}};
    error.expected = evaluator_.show(base);
    error.is_placed = false;
    add_sources(v, error.positions);
    out.push_back(std::move(error));
    return;
  }
  for (std::uint32_t i = 0; i < real->arcs.size(); ++i) {
    Vertex* field = real->arcs[i];
    if (field->mark == ArcMark::Required && demand == Demand::Concrete) {
      Error error{"incomplete", evaluator_.path_of(field), "field is required but not present", {}};
      error.is_placed = false;
      add_places(evaluator_.required_places(field), error.positions);
      out.push_back(std::move(error));
    }
    if (field->mark != ArcMark::Member) continue;
    bool counts = field->label.is_regular() || field->label.is_index();
    collect(field, counts ? demand : Demand::Valid, out, depth + 1);
  }
}

namespace {

bool is_incomplete_error(const Error& error) { return error.code == "incomplete" || error.code == "cycle"; }

// What is only unknown yet does not matter beside what is wrong. Errors that belong to a place come in the order of their
// places, behind those that belong to several, which come in the order of their paths.
void settle_order(Errors& errors) {
  bool is_wrong = !std::all_of(errors.begin(), errors.end(), is_incomplete_error);
  if (is_wrong) std::erase_if(errors, is_incomplete_error);
  auto order = [](const Error& a, const Error& b) {
    if (a.is_placed != b.is_placed) return b.is_placed;
    if (a.is_placed && !is_same_place(a.positions[0], b.positions[0])) return is_before(a.positions[0], b.positions[0]);
    return std::tie(a.path, a.message) < std::tie(b.path, b.message);
  };
  auto is_same = [](const Error& a, const Error& b) {
    if (a.is_placed != b.is_placed || a.path != b.path) return false;
    return a.is_placed ? is_same_place(a.positions[0], b.positions[0]) : a.message == b.message;
  };
  std::stable_sort(errors.begin(), errors.end(), order);
  errors.erase(std::unique(errors.begin(), errors.end(), is_same), errors.end());
}

}  // namespace

Errors Evaluation::errors_of(Vertex* v, Demand demand) {
  evaluator_.complete(v);
  Errors out;
  bool was_telling = evaluator_.set_telling(true);
  if (evaluator_.spent() != nullptr) {
    out.push_back(error_of(*evaluator_.spent()));
  } else {
    clean_.clear();
    collect(v, demand, out, 0);
    settle_order(out);
  }
  evaluator_.set_telling(was_telling);
  return out;
}

namespace {

// The first name of a path, quoted where needed; the path goes on behind it.
std::string take_segment(std::string_view& path) {
  std::string name;
  std::size_t end = 1;
  if (path.starts_with('"')) {
    while (end < path.size() && path[end] != '"') end += path[end] == '\\' ? 2 : 1;
    end = std::min(end + 1, path.size());
    auto unquoted = unquote(path.substr(0, end));
    if (unquoted) name = unquoted->value;
  } else {
    end = std::min(path.find('.'), path.size());
    name = path.substr(0, end);
  }
  path.remove_prefix(std::min(path.size(), end + 1));
  return name;
}

}  // namespace

// The value at the end of a path, with what must be around it for it to lie there.
Value Evaluation::at_path(std::string_view path, Value value) {
  struct Segment {
    std::string name;
    bool is_quoted;
  };
  std::vector<Segment> segments;
  while (!path.empty()) {
    const bool is_quoted = path.starts_with('"');
    segments.push_back({take_segment(path), is_quoted});
  }
  for (auto one = segments.rbegin(); one != segments.rend(); ++one) value = around(one->name, one->is_quoted, value);
  return value;
}

Value Evaluation::around(const std::string& name, bool is_quoted, const Value& value) {
  bool is_number =
      !is_quoted && !name.empty() && std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; }) && name.size() < 6;
  if (is_number) {
    std::vector<Value> items(static_cast<std::size_t>(leading_count(name)), Value::type(kTop));
    items.push_back(value);
    Value list = evaluator_.make_list(items);
    if (!list.is_bottom()) open_list(list.vertex, {});
    return list;
  }
  Value object = evaluator_.make_struct({});
  if (object.is_bottom()) return object;
  bool is_special = !is_quoted && (name.starts_with('#') || name.starts_with('_'));
  const Instance& main = program_.data().instances[0];
  Labels& labels = evaluator_.labels();
  Label label = is_special ? labels.identifier(name, main.path) : labels.regular(name);
  object.vertex->add(evaluator_.arena(), evaluator_.data_vertex(object.vertex, label, value));
  return object;
}

Vertex* Evaluation::run(std::vector<Hole> holes) {
  holes_ = std::move(holes);
  std::vector<Conjunct> extra;
  for (const Hole& hole : holes_) {
    Value value;
    if (const auto* data = std::get_if<json::Value>(&hole.value)) {
      value = evaluator_.from_json(*data);
    } else {
      const Cursor& cursor = std::get<Cursor>(hole.value);
      if (!cursor.exists()) continue;
      value = from_other(*cursor.evaluation_, cursor.vertex_);
    }
    auto* constant = evaluator_.arena().make<ir::Constant>();
    constant->op = ir::Op::Constant;
    constant->value = at_path(hole.name, value);
    extra.push_back({constant, nullptr, nullptr, nullptr, Cycle::None});
  }
  return root_ = evaluator_.run(extra);
}

Cursor evaluate(const Program& program, std::span<const Hole> holes, Limits limits) {
  auto evaluation = std::make_shared<Evaluation>(program, std::move(limits));
  Vertex* root = evaluation->run({holes.begin(), holes.end()});
  return {evaluation, root};
}

Cursor fill(const Cursor& root, std::vector<Hole> holes) {
  if (!root.exists() || root.vertex() != root.evaluation()->root()) return {};
  const Evaluation& before = *root.evaluation();
  std::vector<Hole> all = before.holes();
  for (Hole& one : holes) all.push_back(std::move(one));
  return evaluate(before.program(), all, before.limits());
}

namespace {

// Fields in the order in which they are written, guarded ones among the others.
std::vector<FieldCursor> written_fields(const Cursor& at) {
  std::vector<FieldCursor> fields = at.fields(true);
  std::erase_if(fields, [](const FieldCursor& one) { return one.mark != ast::Mark::Regular; });
  std::ranges::stable_sort(fields, {}, [](const FieldCursor& one) { return one.value.vertex()->pos; });
  return fields;
}

// How a walk has come to a value.
struct WayTo {
  const WayTo* parent;  // null: the root
  const Cursor& at;
};

// Written out only for calls: most values are none.
std::string path_of(const WayTo& way) {
  if (way.parent == nullptr) return way.at.path();
  const std::string above = path_of(*way.parent);
  const std::string label = way.at.evaluation()->evaluator().labels().describe(way.at.vertex()->label);
  return above.empty() ? label : above + "." + label;
}

// Children before the struct they lie in. The path is that of the way here: a field that only names another one has the value,
// and so the path, of that.
void collect_calls(const WayTo& way, std::vector<Call>& out, int depth) {
  if (depth == kNarrowDepth) {
    on_wide_stack([&] { collect_calls(way, out, depth + 1); });
    return;
  }
  if (depth > kMaxCollectDepth) return;
  const Cursor& at = way.at;
  if (const Kind kind = at.kind(); kind != Kind::Struct && kind != Kind::List && kind != Kind::Bottom && kind != Kind::Open)
    return;
  for (const Cursor& item : at.items()) collect_calls({&way, item}, out, depth + 1);
  for (const FieldCursor& one : written_fields(at)) collect_calls({&way, one.value}, out, depth + 1);
  Cursor function = at.field("#do");
  if (function.kind() != Kind::String) return;
  out.push_back({path_of(way), at.field("#provider").as_string(), function.as_string(), at});
}

}  // namespace

std::vector<Call> calls(const Cursor& root) {
  std::vector<Call> out;
  if (root.exists()) collect_calls({nullptr, root}, out, 0);
  return out;
}

Kind Cursor::kind() const {
  if (vertex_ == nullptr) return Kind::Absent;
  Evaluator& evaluator = evaluation_->evaluator();
  evaluator.complete(vertex_);
  if (evaluator.spent() != nullptr) return Kind::Bottom;
  const Vertex* real = deref(vertex_);
  Value base = evaluator.default_of(real->base);
  if (real->base.tag == Value::Tag::Disjunction && base.is_bottom()) return Kind::Open;
  if (base.is_vertex()) real = deref(base.vertex);
  if (base.is_vertex()) base = real->base;
  switch (base.tag) {
    case Value::Tag::Null:
      return Kind::Null;
    case Value::Tag::Bool:
      return Kind::Bool;
    case Value::Tag::Int:
      return Kind::Int;
    case Value::Tag::Number:
      return base.number->is_float ? Kind::Float : Kind::Int;
    case Value::Tag::String:
      return Kind::String;
    case Value::Tag::Bytes:
      return Kind::Bytes;
    case Value::Tag::Bottom:
      return is_incomplete(base.bottom->code) ? Kind::Open : Kind::Bottom;
    case Value::Tag::Struct:
    case Value::Tag::List:
      if (real->child_error != nullptr) return Kind::Bottom;
      return base.tag == Value::Tag::List ? Kind::List : Kind::Struct;
    default:
      return Kind::Open;
  }
}

bool Cursor::is_concrete() const {
  Kind is = kind();
  return is != Kind::Absent && is != Kind::Bottom && is != Kind::Open;
}

std::vector<std::string> doc_of(const Vertex* v) {
  std::vector<std::string> out;
  for (; v != nullptr; v = v->shared) {
    if (v->info == nullptr) continue;
    for (std::string_view line : v->info->doc) {
      line.remove_prefix(2);
      if (line.starts_with(' ')) line.remove_prefix(1);
      out.emplace_back(line);
    }
  }
  return out;
}

std::vector<std::string> Cursor::doc() const { return doc_of(vertex_); }

std::string Cursor::path() const { return vertex_ == nullptr ? "" : evaluation_->evaluator().path_of(vertex_); }

namespace {

// The vertex whose fields count, with defaults taken.
Vertex* container(Evaluation& evaluation, Vertex* v) {
  evaluation.evaluator().complete(v);
  Value base = evaluation.evaluator().default_of(deref(v)->base);
  return base.is_vertex() ? deref(base.vertex) : deref(v);
}

}  // namespace

Cursor Cursor::field(std::string_view name) const {
  if (vertex_ == nullptr) return {};
  Evaluator& evaluator = evaluation_->evaluator();
  const Vertex* in = container(*evaluation_, vertex_);
  for (Vertex* one : in->arcs) {
    if (one->mark != ArcMark::Member || one->label.is_let()) continue;
    bool is_same =
        one->label.is_index() ? std::to_string(one->label.index()) == name : evaluator.labels().text(one->label) == name;
    if (is_same) return {evaluation_, one};
  }
  return {};
}

Cursor Cursor::item(std::size_t index) const {
  if (vertex_ == nullptr) return {};
  Vertex* in = container(*evaluation_, vertex_);
  Vertex* found = evaluation_->evaluator().find_arc(in, Label::item(static_cast<std::uint32_t>(index)));
  return found == nullptr ? Cursor() : Cursor(evaluation_, found);
}

Cursor Cursor::lookup(std::string_view path) const {
  Cursor at = *this;
  while (!path.empty() && at.exists()) at = at.field(take_segment(path));
  return at;
}

std::vector<FieldCursor> Cursor::fields(bool with_others) const {
  std::vector<FieldCursor> out;
  if (vertex_ == nullptr) return out;
  Evaluator& evaluator = evaluation_->evaluator();
  for (Vertex* one : container(*evaluation_, vertex_)->arcs) {
    if (one->label.is_let() || one->label.is_index() || one->mark == ArcMark::Absent) continue;
    if (!with_others && (!one->label.is_regular() || one->mark != ArcMark::Member)) continue;
    FieldCursor field{
        std::string(evaluator.labels().text(one->label)), static_cast<ast::Mark>(0), Cursor(evaluation_, one), {}, {}};
    field.mark = one->mark == ArcMark::Optional   ? ast::Mark::Optional
                 : one->mark == ArcMark::Required ? ast::Mark::Required
                                                  : ast::Mark::Regular;
    field.doc = field.value.doc();
    if (one->info != nullptr) {
      for (const ast::Attribute* attribute : one->info->attributes) field.attributes.emplace_back(attribute->text);
    }
    out.push_back(std::move(field));
  }
  return out;
}

std::vector<Cursor> Cursor::items() const {
  std::vector<Cursor> out;
  if (vertex_ == nullptr) return out;
  for (Vertex* one : container(*evaluation_, vertex_)->arcs) {
    if (one->label.is_index()) out.emplace_back(evaluation_, one);
  }
  return out;
}

std::string Cursor::as_string(std::string_view fallback) const {
  Value base = kind() == Kind::String ? evaluation_->evaluator().default_of(deref(vertex_)->base) : Value();
  return base.tag == Value::Tag::String ? std::string(base.str()) : std::string(fallback);
}

std::int64_t Cursor::as_int(std::int64_t fallback) const {
  Value base = kind() == Kind::Int ? evaluation_->evaluator().default_of(deref(vertex_)->base) : Value();
  return base.tag == Value::Tag::Int ? base.integer : fallback;
}

bool Cursor::as_bool(bool fallback) const {
  Value base = kind() == Kind::Bool ? evaluation_->evaluator().default_of(deref(vertex_)->base) : Value();
  return base.tag == Value::Tag::Bool ? base.boolean : fallback;
}

Errors Cursor::validate(Demand demand) const { return vertex_ == nullptr ? Errors{} : evaluation_->errors_of(vertex_, demand); }

std::expected<std::string, Errors> Cursor::to_json_text() const {
  if (vertex_ == nullptr) return std::unexpected(Errors{{"incomplete", "", "value not found", {}}});
  Value error;
  std::string text = evaluation_->evaluator().to_unordered_json(Value::of(vertex_), error);
  if (!error.is_bottom() && evaluation_->evaluator().spent() == nullptr) return text;
  Errors errors = validate(Demand::Concrete);
  if (errors.empty()) errors.push_back(evaluation_->error_of(*error.bottom));
  return std::unexpected(std::move(errors));
}

std::expected<json::Value, Errors> Cursor::to_json() const {
  if (vertex_ == nullptr) return std::unexpected(Errors{{"incomplete", "", "value not found", {}}});
  Value error;
  json::Value value = evaluation_->evaluator().to_unordered_data(Value::of(vertex_), error);
  if (!error.is_bottom() && evaluation_->evaluator().spent() == nullptr) return value;
  Errors errors = validate(Demand::Concrete);
  if (errors.empty()) errors.push_back(evaluation_->error_of(*error.bottom));
  return std::unexpected(std::move(errors));
}

std::expected<std::string, Errors> Cursor::to_yaml() const {
  auto value = to_json();
  if (!value) return std::unexpected(std::move(value).error());
  return json::print_yaml(*value);
}

std::string Cursor::to_cue() const {
  if (vertex_ == nullptr) return "_|_";
  evaluation_->evaluator().complete(vertex_);
  return evaluation_->evaluator().spent() != nullptr ? "_|_" : cue_text(evaluation_->evaluator(), vertex_);
}

}  // namespace slipway::cue
