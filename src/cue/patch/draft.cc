#include "cue/patch/draft.h"

namespace slipway::cue {

namespace {

constexpr int kMaxDraftDepth = 300;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

// Errors name the places the parts were written at.
void place(Vertex* v, const Draft& draft) {
  for (std::uint32_t i = 0; i < v->arcs.size(); ++i) v->arcs[i]->pos = draft.children[i].pos;
}

}  // namespace

Markers markers_of(const std::vector<std::string>& doc) {
  Markers out;
  for (std::string_view line : doc) {
    line = trimmed(line);
    std::size_t equals = line.find('=');
    if (!line.starts_with('+') || equals == std::string_view::npos) continue;
    std::string_view value = trimmed(line.substr(equals + 1));
    if (value.find_first_of(" \t") != std::string_view::npos) continue;  // a sentence, not a marker
    out[std::string(trimmed(line.substr(1, equals - 1)))] = value;
  }
  return out;
}

Draft* Draft::field(std::string_view name) {
  for (std::size_t i = 0; kind == Kind::Struct && i < names.size(); ++i) {
    if (names[i] == name) return &children[i];
  }
  return nullptr;
}

void Draft::append(std::string name, Markers marks, Draft child) {
  names.push_back(std::move(name));
  markers.push_back(std::move(marks));
  children.push_back(std::move(child));
}

Draft draft_of(Evaluation& into, Evaluation& from, Vertex* v, int depth) {
  from.evaluator().complete(v);
  Vertex* real = deref(v);
  Draft out;
  if (v->pos != 0) out.pos = into.foreign_position(from, v->pos);
  if (real->base.is_vertex() && depth < kMaxDraftDepth) return draft_of(into, from, real->base.vertex, depth + 1);
  if (real->base.tag == Value::Tag::List && depth < kMaxDraftDepth) {
    out.kind = Draft::Kind::List;
    out.is_open = real->is_open_list;
    if (out.is_open) out.rest = into.rest_of(from, real, depth + 1);
    for (Vertex* one : real->arcs) {
      if (one->label.is_index()) out.children.push_back(draft_of(into, from, one, depth + 1));
    }
  } else if (real->base.tag == Value::Tag::Struct && depth < kMaxDraftDepth) {
    out.kind = Draft::Kind::Struct;
    for (Vertex* one : real->arcs) {
      if (!one->label.is_regular() || one->mark != ArcMark::Member) continue;
      out.append(std::string(from.evaluator().labels().text(one->label)), markers_of(doc_of(one)),
                 draft_of(into, from, one, depth + 1));
    }
  } else {
    out.leaf = into.from_other_value(from, real->base, depth);
  }
  return out;
}

Value value_of(Evaluation& into, const Draft& draft) {
  Evaluator& evaluator = into.evaluator();
  switch (draft.kind) {
    case Draft::Kind::Leaf:
      return draft.leaf;
    case Draft::Kind::Struct: {
      std::vector<Evaluator::Member> members;
      for (std::size_t i = 0; i < draft.names.size(); ++i)
        members.push_back({draft.names[i], value_of(into, draft.children[i])});
      Value object = evaluator.make_struct(members);
      if (!object.is_bottom()) place(object.vertex, draft);
      return object;
    }
    case Draft::Kind::List: {
      std::vector<Value> items;
      for (const Draft& one : draft.children) items.push_back(value_of(into, one));
      Value list = evaluator.make_list(items);
      if (!list.is_bottom()) place(list.vertex, draft);
      if (draft.is_open && !list.is_bottom()) into.open_list(list.vertex, draft.rest);
      return list;
    }
  }
  return {};
}

}  // namespace slipway::cue
