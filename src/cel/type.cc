#include "cel/type.h"

#include <algorithm>
#include <array>

#include "cel/lexer.h"

namespace slipway::cel {
namespace {

constexpr std::array<std::string_view, 18> kNames{"dyn",      "null",  "bool",          "int",    "uint",   "double",
                                                  "string",   "bytes", "list",          "map",    "object", "timestamp",
                                                  "duration", "type",  "optional_type", "opaque", "var",    "error"};

constexpr std::array<std::string_view, 21> kReservedNames{
    "true", "false",  "null", "in",   "as",      "break",     "const",  "continue", "else", "for",  "function",
    "if",   "import", "let",  "loop", "package", "namespace", "return", "var",      "void", "while"};

}  // namespace

TypePtr type_of(Kind kind) {
  static const auto all = [] {
    std::array<TypePtr, kNames.size()> types;
    for (std::size_t i = 0; i < types.size(); ++i) types[i] = std::make_shared<Type>(Type{.kind = static_cast<Kind>(i)});
    return types;
  }();
  return all[static_cast<std::size_t>(kind)];
}

TypePtr list_of(TypePtr item) { return std::make_shared<Type>(Type{.kind = Kind::List, .params = {std::move(item)}}); }

TypePtr map_of(TypePtr key, TypePtr value) {
  return std::make_shared<Type>(Type{.kind = Kind::Map, .params = {std::move(key), std::move(value)}});
}

TypePtr optional_of(TypePtr value) {
  return std::make_shared<Type>(Type{.kind = Kind::Optional, .params = {std::move(value)}});
}

TypePtr type_type(TypePtr of) { return std::make_shared<Type>(Type{.kind = Kind::Type, .params = {std::move(of)}}); }

TypePtr opaque(std::string_view name) { return std::make_shared<Type>(Type{.kind = Kind::Opaque, .name = std::string(name)}); }

TypePtr var(std::string_view name, int id) {
  return std::make_shared<Type>(Type{.kind = Kind::Var, .name = std::string(name), .id = id});
}

std::string to_string(const Type& type) {
  if (type.kind == Kind::Var) return type.name.empty() ? "dyn" : type.name;
  std::string text = (type.kind == Kind::Object || type.kind == Kind::Opaque) && !type.name.empty()
                         ? type.name
                         : std::string(kNames[static_cast<std::size_t>(type.kind)]);
  if (type.params.empty()) return text;
  text += '(';
  for (const TypePtr& param : type.params) text += (&param == &type.params.front() ? "" : ", ") + to_string(*param);
  return text + ')';
}

const Field* field_of(const Type& type, std::string_view name) {
  auto found = type.fields.find(name);
  if (found == type.fields.end() && std::ranges::find(kReservedNames, name) != kReservedNames.end())
    found = type.fields.find(escape(name));
  return found == type.fields.end() ? nullptr : &found->second;
}

std::string escape(std::string_view name) {
  if (name.empty()) return {};
  if (std::ranges::find(kReservedNames, name) != kReservedNames.end()) return "__" + std::string(name) + "__";
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (c == '_' && i + 1 < name.size() && name[i + 1] == '_') {
      out += "__underscores__";
      ++i;
    } else if (c == '.') {
      out += "__dot__";
    } else if (c == '-') {
      out += "__dash__";
    } else if (c == '/') {
      out += "__slash__";
    } else if (is_letter(c) || (i > 0 && c >= '0' && c <= '9')) {
      out += c;
    } else {
      return {};
    }
  }
  return out;
}

}  // namespace slipway::cel
