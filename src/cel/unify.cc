#include "cel/unify.h"

namespace slipway::cel {
namespace {

bool takes_null(Kind kind) {
  return kind == Kind::Object || kind == Kind::Timestamp || kind == Kind::Duration || kind == Kind::Opaque ||
         kind == Kind::Optional || kind == Kind::Null;
}

TypePtr with_params(const Type& type, std::vector<TypePtr> params) {
  Type copy = type;
  copy.params = std::move(params);
  return std::make_shared<Type>(std::move(copy));
}

}  // namespace

TypePtr Unifier::fresh() { return var("", ++next_); }

TypePtr Unifier::shallow(TypePtr type) const {
  while (type->kind == Kind::Var) {
    const auto found = bound_.find(type->id);
    if (found == bound_.end()) break;
    type = found->second;
  }
  return type;
}

TypePtr Unifier::resolve(const TypePtr& type) const {
  const TypePtr top = shallow(type);
  if (top->params.empty()) return top;
  std::vector<TypePtr> params;
  bool is_same = true;
  for (const TypePtr& param : top->params) {
    params.push_back(resolve(param));
    is_same &= params.back() == param;
  }
  return is_same ? top : with_params(*top, std::move(params));
}

TypePtr Unifier::finish(const TypePtr& type) const {
  const TypePtr top = shallow(type);
  if (top->kind == Kind::Var) return type_of(Kind::Dyn);
  if (top->params.empty()) return top;
  std::vector<TypePtr> params;
  for (const TypePtr& param : top->params) params.push_back(finish(param));
  return with_params(*top, std::move(params));
}

bool Unifier::occurs(int id, const TypePtr& type) const {
  const TypePtr top = shallow(type);
  if (top->kind == Kind::Var) return top->id == id;
  for (const TypePtr& param : top->params) {
    if (occurs(id, param)) return true;
  }
  return false;
}

bool Unifier::is_assignable(const TypePtr& to_type, const TypePtr& from_type) {
  TypePtr to = shallow(to_type);
  TypePtr from = shallow(from_type);
  if (to == from) return true;
  if (to->kind == Kind::Var || from->kind == Kind::Var) {
    if (to->kind != Kind::Var) std::swap(to, from);
    if (from->kind == Kind::Var && from->id == to->id) return true;
    if (occurs(to->id, from)) return false;
    bound_[to->id] = from;
    return true;
  }
  if (to->kind == Kind::Dyn || from->kind == Kind::Dyn || to->kind == Kind::Error || from->kind == Kind::Error) return true;
  if (from->kind == Kind::Null) return takes_null(to->kind);
  if (to->kind == Kind::Null) {
    // A Var that was first seen as null widens to what comes.
    if (!takes_null(from->kind)) return false;
    if (to_type->kind == Kind::Var) bound_[to_type->id] = from;
    return true;
  }
  if (to->kind != from->kind) return false;
  if (to->kind == Kind::Opaque && to->name != from->name) return false;
  if (to->kind == Kind::Object) return to->name == from->name || to->fields.size() == from->fields.size();
  if (to->kind == Kind::Type) return true;
  if (to->params.size() != from->params.size()) return to->params.empty() || from->params.empty();
  for (std::size_t i = 0; i < to->params.size(); ++i) {
    if (!is_assignable(to->params[i], from->params[i])) return false;
  }
  return true;
}

std::vector<TypePtr> Unifier::instantiate(const std::vector<TypePtr>& types) {
  std::map<std::string, TypePtr> known;
  std::vector<TypePtr> out;
  for (const TypePtr& type : types) out.push_back(instantiate(type, known));
  return out;
}

TypePtr Unifier::instantiate(const TypePtr& type, std::map<std::string, TypePtr>& known) {
  if (type->kind == Kind::Var) {
    TypePtr& made = known[type->name];
    if (made == nullptr) made = fresh();
    return made;
  }
  if (type->params.empty()) return type;
  std::vector<TypePtr> params;
  for (const TypePtr& param : type->params) params.push_back(instantiate(param, known));
  return with_params(*type, std::move(params));
}

TypePtr Unifier::join(const TypePtr& left, const TypePtr& right) {
  const TypePtr one = resolve(left);
  const TypePtr other = resolve(right);
  if (one->kind == Kind::Dyn || one->kind == Kind::Error) return one;
  if (other->kind == Kind::Dyn || other->kind == Kind::Error) return other;
  Unifier trial = *this;
  if (!trial.is_assignable(one, other)) return nullptr;
  *this = std::move(trial);
  return one->kind == Kind::Null ? other : one;
}

}  // namespace slipway::cel
