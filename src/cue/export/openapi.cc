#include <set>

#include "cue/evaluation.h"
#include "cue/schema.h"
#include "json/text.h"

// Values are told apart a few tags at a time.
#pragma clang diagnostic ignored "-Wswitch-enum"

namespace slipway::cue {

namespace {

constexpr int kMaxSchemaDepth = 24;

std::string description_of(const std::vector<std::string>& doc) {
  constexpr std::string_view kUsage = "+usage=";
  std::string out;
  for (std::string_view line : doc) {
    while (line.starts_with(' ')) line.remove_prefix(1);
    if (line.starts_with(kUsage)) {
      line.remove_prefix(kUsage.size());
    } else if (line.starts_with('+')) {
      continue;
    }
    if (!out.empty()) out += '\n';
    out += line;
  }
  return out;
}

const char* type_name(KindMask kinds) {
  switch (kinds) {
    case kBool:
      return "boolean";
    case kInt:
      return "integer";
    case kFloat:
    case kNumber:
      return "number";
    case kString:
    case kBytes:
      return "string";
    case kList:
      return "array";
    case kStruct:
      return "object";
    default:
      return nullptr;  // several
  }
}

class Generator {
 public:
  explicit Generator(Evaluation& evaluation) : evaluation_(evaluation), evaluator_(evaluation.evaluator()) {}

  json::Value vertex(Vertex* v, int depth) {
    evaluator_.settle(v);
    evaluator_.complete(v);
    Vertex* real = deref(v);
    if (depth > kMaxSchemaDepth) return json::Value::empty_object();
    if (real->base.is_vertex()) return vertex(real->base.vertex, depth + 1);
    if (real->base.tag == Value::Tag::Struct) return object(real, depth);
    if (real->base.tag == Value::Tag::List) return list(real, depth);
    return value(real->base, depth);
  }

 private:
  json::Value object(Vertex* v, int depth) {
    json::ObjectBuilder out;
    json::ObjectBuilder properties;
    json::ArrayBuilder required;
    out.set("type", "object");
    for (std::uint32_t i = 0; i < v->arcs.size(); ++i) {
      Vertex* field = v->arcs[i];
      if (!field->label.is_regular() || field->mark == ArcMark::Absent) continue;
      json::Value schema = vertex(field, depth + 1);
      std::string about = description_of(Cursor(evaluation_.shared_from_this(), field).doc());
      if (!about.empty()) schema = schema.with("description", about);
      std::string name(evaluator_.labels().text(field->label));
      properties.set(name, schema);
      if (field->mark != ArcMark::Optional) required.add(name);
    }
    if (!properties.empty()) out.set("properties", properties.build());
    if (!required.empty()) out.set("required", required.build());
    if (json::Value rest = additional(v, depth); !rest.is_null()) out.set("additionalProperties", rest);
    return out.build();
  }

  // What a pattern for any name asks of fields that are not named.
  json::Value additional(Vertex* v, int depth) {
    if (v->node == nullptr) return {};
    auto* field = evaluator_.arena().make<Vertex>();
    for (const Pattern& pattern : v->node->patterns) {
      if (pattern.matcher.tag != Value::Tag::Type || (pattern.matcher.kinds & kString) == 0) continue;
      Conjunct c = pattern.conjunct;
      c.env = evaluator_.arena().make<Env>(c.env, field, kNoLabel, nullptr);
      field->conjuncts.push(evaluator_.arena(), c);
    }
    return field->conjuncts.empty() ? json::Value() : vertex(field, depth + 1);
  }

  json::Value list(Vertex* v, int depth) {
    json::ObjectBuilder out;
    out.set("type", "array");
    std::vector<json::Value> items;
    for (Vertex* one : v->arcs) {
      if (one->label.is_index()) items.push_back(vertex(one, depth + 1));
    }
    auto fixed = static_cast<std::int64_t>(items.size());
    if (Value rest = v->is_open_list ? evaluation_.rest_of(evaluation_, v, 0) : Value(); !rest.is_none()) {
      items.push_back(rest_schema(v, depth));
    }
    if (items.size() == 1) out.set("items", items[0]);
    if (items.size() != 1) out.set("items", items.empty() ? json::Value::empty_object() : one_of("anyOf", items));
    if (fixed > 0) out.set("minItems", fixed);
    if (!v->is_open_list) out.set("maxItems", fixed);
    return out.build();
  }

  // Items beyond the fixed ones, with their comments and optional fields, which a copied value has no more.
  json::Value rest_schema(Vertex* v, int depth) {
    auto* item = evaluator_.arena().make<Vertex>();
    if (v->node != nullptr) {
      for (const ListPart& part : v->node->lists) {
        if (part.is_open && part.rest.expr != nullptr) item->conjuncts.push(evaluator_.arena(), part.rest);
      }
    }
    return item->conjuncts.empty() ? json::Value::empty_object() : vertex(item, depth + 1);
  }

  json::Value value(const Value& v, int depth) {
    switch (v.tag) {
      case Value::Tag::Type:
        return of_kinds(v.kinds);
      case Value::Tag::Bound:
      case Value::Tag::Validator:
        return bounded(of_kinds(kinds_of(v)), v);
      case Value::Tag::Conjunction: {
        json::Value out = of_kinds(kinds_of(v));
        if (std::string_view format = format_of(*v.conjunction); !format.empty()) return out.with("format", format);
        for (const Value& part : v.conjunction->parts) out = bounded(out, part);
        return out;
      }
      case Value::Tag::Disjunction:
        return alternatives(*v.disjunction, depth);
      case Value::Tag::Vertex:
        return vertex(v.vertex, depth + 1);
      case Value::Tag::Bottom:
      case Value::Tag::None:
        return json::Value::empty_object();
      default:
        return constant({literal(v)}, kinds_of(v));
    }
  }

  json::Value of_kinds(KindMask kinds) {
    if ((kinds & ~kNull) == kTop - kNull) return json::Value::empty_object();
    bool is_nullable = (kinds & kNull) != 0 && kinds != kNull;
    json::Value out = json::Value::empty_object();
    auto rest = static_cast<KindMask>(kinds & ~kNull);
    if (const char* name = type_name(rest); name != nullptr) {
      out = json::object({{"type", name}});
    } else if (rest != 0) {
      std::vector<json::Value> types;
      for (KindMask one : {kBool, kNumber, kString, kList, kStruct}) {
        auto both = static_cast<KindMask>(rest & one);
        if (both != 0) types.push_back(of_kinds(both));
      }
      out = one_of("oneOf", types);
    }
    return is_nullable ? out.with("nullable", true) : out;
  }

  // The sized numbers that OpenAPI has a name for.
  std::string_view format_of(const Conjunction& all) {
    struct Format {
      std::string_view name;
      std::string_view least;
      std::string_view most;
    };
    static constexpr Format kFormats[] = {
        {"int32", "-2147483648", "2147483647"},
        {"int64", "-9223372036854775808", "9223372036854775807"},
        {"float", "-340282346638528859811704183484516925440.0", "340282346638528859811704183484516925440.0"},
        {"double", "-1.797693134862315708145274237317043567981E+308", "1.797693134862315708145274237317043567981E+308"}};
    std::string least;
    std::string most;
    for (const Value& part : all.parts) {
      if (part.tag == Value::Tag::Type) continue;
      bool is_low = part.tag == Value::Tag::Bound && part.bound->op == Tok::Geq && least.empty();
      bool is_high = part.tag == Value::Tag::Bound && part.bound->op == Tok::Leq && most.empty();
      if (!is_low && !is_high) return {};
      (is_low ? least : most) = evaluator_.show(part.bound->operand);
    }
    for (const Format& one : kFormats) {
      if (one.least == least && one.most == most) return one.name;
    }
    return {};
  }

  // The validators that OpenAPI has a word for.
  json::Value judged(const json::Value& schema, const Validator& v) {
    struct Word {
      std::string_view package;
      std::string_view name;
      std::string_view word;
    };
    static constexpr Word kWords[] = {{"strings", "MinRunes", "minLength"},    {"strings", "MaxRunes", "maxLength"},
                                      {"math", "MultipleOf", "multipleOf"},    {"list", "MinItems", "minItems"},
                                      {"list", "MaxItems", "maxItems"},        {"struct", "MinFields", "minProperties"},
                                      {"struct", "MaxFields", "maxProperties"}};
    for (const Word& one : kWords) {
      if (v.builtin->package == one.package && v.builtin->name == one.name && v.args.size() == 1)
        return schema.with(one.word, literal(v.args[0]));
    }
    bool is_unique = v.builtin->package == "list" && v.builtin->name == "UniqueItems";
    return is_unique ? schema.with("uniqueItems", true) : schema;
  }

  json::Value bounded(const json::Value& schema, const Value& v) {
    if (v.tag == Value::Tag::Validator) return judged(schema, *v.validator);
    if (v.tag != Value::Tag::Bound) return schema;
    json::Value operand = literal(v.bound->operand);
    switch (v.bound->op) {
      case Tok::Geq:
        return schema.with("minimum", operand);
      case Tok::Gtr:
        return schema.with("minimum", operand).with("exclusiveMinimum", true);
      case Tok::Leq:
        return schema.with("maximum", operand);
      case Tok::Lss:
        return schema.with("maximum", operand).with("exclusiveMaximum", true);
      case Tok::Mat:
        return schema.with("pattern", operand);
      case Tok::NMat:
        return schema.with("not", json::object({{"pattern", operand}}));
      case Tok::Neq:
        return schema.with("not", json::object({{"enum", json::array({operand})}}));
      default:
        return schema;
    }
  }

  // Whether data fits a schema, as far as types, fields and constants say.
  static bool takes(const json::Value& schema, const json::Value& data) {
    if (schema.has("oneOf") || schema.has("anyOf") || schema.has("allOf")) return false;
    if (data.is_null()) return schema["nullable"].as_bool();
    if (const json::Value* all = schema.find("enum"); all != nullptr && !contains(all->items(), data)) return false;
    std::string_view type = schema["type"].as_string();
    if (data.is_array()) {
      auto fits = [&](const json::Value& one) { return takes(schema["items"], one); };
      std::span<const json::Value> items = data.items();
      if (schema.has("minItems") || schema.has("maxItems")) return false;
      return type == "array" && std::all_of(items.begin(), items.end(), fits);
    }
    if (data.is_object()) return type == "object" && takes_fields(schema, data);
    if (data.is_bool()) return type == "boolean" || type.empty();
    if (data.is_number()) return type == "number" || type.empty() || (type == "integer" && data.is_int());
    return type == "string" || type.empty();
  }
  static bool takes_fields(const json::Value& schema, const json::Value& data) {
    for (const json::Value& name : schema["required"].items()) {
      if (!data.has(name.as_string())) return false;
    }
    for (const auto& [name, one] : data.members()) {
      const json::Value* known = schema["properties"].find(name);
      if (known == nullptr) known = schema.find("additionalProperties");
      if (known != nullptr && known->is_object() && !takes(*known, one)) return false;
    }
    return true;
  }
  static bool contains(std::span<const json::Value> all, const json::Value& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
  }

  // A default that another alternative takes as it is: of schemas of which exactly one must hold it would be a second.
  bool is_covered_default(const Disjunction& d, const Value& one, int depth) {
    if (&one >= d.values.data() + d.defaults || one.tag == Value::Tag::Null) return false;
    return std::any_of(d.values.begin(), d.values.end(), [&](const Value& other) {
      if (&other == &one || other.is_concrete_scalar() || (kinds_of(other) & kinds_of(one)) == 0) return false;
      if (one.is_vertex()) {
        Value error;
        auto data = json::parse(evaluator_.to_json(one, error));
        return !error.is_bottom() && data && other.is_vertex() && takes(value(other, depth), *data);
      }
      Value both = evaluator_.unify(one, other);
      return !both.is_bottom() && evaluator_.is_equal(both, one);
    });
  }

  // Constants of one type are an enum; a default that a type among them covers is only a default.
  json::Value alternatives(const Disjunction& d, int depth) {
    std::vector<json::Value> constants;
    std::vector<json::Value> schemas;
    KindMask constant_kinds = 0;
    KindMask open_kinds = 0;
    for (const Value& one : d.values) {
      if (!one.is_concrete_scalar()) {
        if (one.tag == Value::Tag::Type) open_kinds |= one.kinds;
      }
    }
    bool is_nullable = false;
    for (const Value& one : d.values) {
      if (is_covered_default(d, one, depth + 1)) continue;
      if (one.tag == Value::Tag::Null) {
        is_nullable = true;
      } else if (one.is_concrete_scalar()) {
        if ((kinds_of(one) & open_kinds) != 0) continue;
        constants.push_back(literal(one));
        constant_kinds |= kinds_of(one);
      } else {
        json::Value schema = value(one, depth + 1);
        if (std::find(schemas.begin(), schemas.end(), schema) == schemas.end()) schemas.push_back(schema);
      }
    }
    if (!constants.empty()) schemas.insert(schemas.begin(), constant(constants, constant_kinds));
    json::Value out = schemas.empty()       ? json::Value::empty_object()
                      : schemas.size() == 1 ? schemas[0]
                                            : one_of("oneOf", schemas);
    if (is_nullable) out = out.with("nullable", true);
    if (d.defaults == 1) {
      Value error;
      std::string text = evaluator_.to_json(d.values[0], error);
      auto parsed = json::parse(text);
      if (!error.is_bottom() && parsed) out = out.with("default", *parsed);
    }
    return out;
  }

  json::Value constant(const std::vector<json::Value>& values, KindMask kinds) {
    json::ArrayBuilder all;
    for (const json::Value& one : values) all.add(one);
    json::Value out = json::Value::empty_object();
    if (const char* name = type_name(kinds); name != nullptr) out = json::object({{"type", name}});
    return out.with("enum", all.build());
  }

  json::Value literal(const Value& v) {
    Value error;
    auto parsed = json::parse(evaluator_.to_json(v, error));
    return parsed && !error.is_bottom() ? *parsed : json::Value();
  }

  static json::Value one_of(const char* word, const std::vector<json::Value>& schemas) {
    json::ArrayBuilder all;
    for (const json::Value& one : schemas) all.add(one);
    return json::object({{word, all.build()}});
  }

  Evaluation& evaluation_;
  Evaluator& evaluator_;
};

}  // namespace

json::Value openapi_schema(const Cursor& value) {
  return value.exists() ? Generator(*value.evaluation()).vertex(value.vertex(), 0) : json::Value::empty_object();
}

}  // namespace slipway::cue
