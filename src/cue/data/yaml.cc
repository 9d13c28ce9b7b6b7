#include "cue/data/yaml.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/digest.h"
#include "cue/number/integer.h"
#include "cue/syntax/unicode.h"
#include "json/text.h"

// Values are told apart a few tags at a time.
#pragma clang diagnostic ignored "-Wswitch-enum"

namespace slipway::cue {
namespace {

constexpr int kMaxNesting = 500;

bool all_of(std::string_view text, std::string_view set) {
  return !text.empty() && text.find_first_not_of(set) == std::string_view::npos;
}

// Digits of a base, with "_" between them.
bool based_integer(std::string_view digits, int base, std::string_view sign, std::string& out) {
  std::string plain(digits);
  std::erase(plain, '_');
  auto number = parse_integer(plain, base);
  if (!number || plain.empty() || plain[0] == '-' || plain[0] == '+') return false;
  out = std::string(sign == "-" ? "-" : "") + print_integer(*number, 10);
  return true;
}

/// A number in one of YAML's forms, as decimal text.
bool read_number(std::string_view text, std::string& out, bool& is_float) {
  std::string_view sign = text.substr(0, text.starts_with('-') || text.starts_with('+') ? 1 : 0);
  std::string_view rest = text.substr(sign.size());
  is_float = false;
  if (rest.empty() || !(std::isdigit(static_cast<unsigned char>(rest[0])) != 0 || rest[0] == '.')) return false;
  if (rest.starts_with("0x")) return based_integer(rest.substr(2), 16, sign, out);
  if (rest.starts_with("0o")) return based_integer(rest.substr(2), 8, sign, out);
  if (rest.starts_with("0b")) return based_integer(rest.substr(2), 2, sign, out);
  if (rest.size() > 1 && rest[0] == '0' && all_of(rest, "01234567_")) return based_integer(rest.substr(1), 8, sign, out);
  std::string plain(rest);
  std::erase(plain, '_');
  if (all_of(plain, "0123456789")) {
    if (plain.size() > 1 && plain[0] == '0') return false;  // no octal number, and no other
    out = std::string(sign == "-" ? "-" : "") + plain;
    return true;
  }
  if (rest.starts_with('_') || !all_of(plain, "0123456789.eE+-")) return false;
  auto number = parse_decimal(plain);
  if (!number || plain.find_first_of("0123456789") == std::string::npos) return false;
  is_float = true;
  out = std::string(sign == "-" ? "-" : "") + (plain.starts_with('.') ? "0" : "") + plain;
  return true;
}

bool is_null(std::string_view text) {
  return text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL";
}

bool read_bool(std::string_view text, std::string& out) {
  bool yes = text == "true" || text == "True" || text == "TRUE";
  if (!yes && text != "false" && text != "False" && text != "FALSE") return false;
  out = yes ? "true" : "false";
  return true;
}

std::string infinity_name(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 32) : c; });
  if (lower == ".inf" || lower == "+.inf") return "+Inf";
  if (lower == "-.inf") return "-Inf";
  return lower == ".nan" ? "NaN" : "";
}

std::unexpected<Status> wrong(const json::YamlNode& node, std::string_view why) {
  return fail(Reason::BadRequest, fmt::format("yaml: line {}: {}", node.line, why));
}

Result<YamlScalar> read_tagged(const json::YamlNode& node) {
  YamlScalar out;
  auto mismatch = [&] { return wrong(node, fmt::format("cannot decode \"{}\" as !!{}", node.text, node.tag)); };
  if (node.tag == "null") {
    if (!is_null(node.text)) return mismatch();
    out.kind = YamlScalar::Kind::Null;
  } else if (node.tag == "bool") {
    if (!read_bool(node.text, out.text)) return mismatch();
    out.kind = YamlScalar::Kind::Bool;
  } else if (node.tag == "int" || node.tag == "float") {
    if (!read_number(node.text, out.text, out.is_float) || (node.tag == "int" && out.is_float)) return mismatch();
    out.kind = YamlScalar::Kind::Number;
    out.is_only_number = node.tag == "float" && !out.is_float;
  } else if (node.tag == "binary") {
    std::string packed = node.text;
    std::erase_if(packed, [](char c) { return c == '\n' || c == '\r' || c == ' '; });
    if (packed.size() % 4 != 0 || packed.starts_with('=') || !base64_decode(packed, out.text))
      return wrong(node, "!!binary value contains invalid base64 data");
    out.kind = YamlScalar::Kind::Bytes;
  } else if (node.tag == "str" || node.tag == "timestamp" || node.tag == "!") {
    out.text = node.text;
  } else {
    return wrong(node, fmt::format("cannot unmarshal tag \"{}{}\"", node.tag.starts_with('!') ? "" : "!!", node.tag));
  }
  return out;
}

}  // namespace

Result<YamlScalar> read_yaml_scalar(const json::YamlNode& node) {
  if (!node.tag.empty()) return read_tagged(node);
  YamlScalar out;
  out.text = node.text;
  if (!node.is_plain) return out;
  std::string text;
  if (node.text == "<<") return wrong(node, "cannot unmarshal tag \"!!merge\"");
  if (is_null(node.text)) {
    out.kind = YamlScalar::Kind::Null;
  } else if (read_bool(node.text, text)) {
    out.kind = YamlScalar::Kind::Bool;
    out.text = text;
  } else if (read_number(node.text, text, out.is_float)) {
    out.kind = YamlScalar::Kind::Number;
    out.text = text;
  } else if (!infinity_name(node.text).empty()) {
    return wrong(node, "infinity and NaN are no numbers of the language");
  }
  return out;
}

Result<std::string> read_yaml_key(const json::YamlNode& node) {
  if (node.kind == json::YamlNode::Kind::Sequence) return wrong(node, "invalid map key: !!seq");
  if (node.kind == json::YamlNode::Kind::Mapping) return wrong(node, "invalid map key: !!map");
  if (std::string special = node.is_plain ? infinity_name(node.text) : ""; !special.empty()) return special;
  SLIPWAY_TRY(scalar, read_yaml_scalar(node));
  if (scalar.kind == YamlScalar::Kind::Null) return std::string("null");
  if (scalar.kind == YamlScalar::Kind::Number && node.text.starts_with('-'))
    return wrong(node, fmt::format("invalid label {}", node.text));
  return scalar.kind == YamlScalar::Kind::Number ? node.text : scalar.text;
}

Result<std::vector<YamlMember>> read_yaml_members(const json::YamlNode& mapping) {
  std::vector<YamlMember> own;
  std::vector<YamlMember> merged;
  std::set<std::string> names;
  for (std::size_t i = 0; i + 1 < mapping.children.size(); i += 2) {
    const auto& key = mapping.children[i];
    const auto& value = mapping.children[i + 1];
    if ((key->is_plain && key->text == "<<") || key->tag == "merge") {
      std::vector<std::shared_ptr<const json::YamlNode>> sources = {value};
      if (value->kind == json::YamlNode::Kind::Sequence) sources = value->children;
      for (const auto& source : sources) {
        if (source->kind != json::YamlNode::Kind::Mapping)
          return wrong(*key, "map merge requires map or sequence of maps as the value");
        SLIPWAY_TRY(members, read_yaml_members(*source));
        for (YamlMember& one : members) merged.push_back(std::move(one));
      }
      continue;
    }
    SLIPWAY_TRY(name, read_yaml_key(*key));
    names.insert(name);
    own.push_back({name, key, value});
  }
  std::vector<YamlMember> out;
  for (YamlMember& one : merged) {
    if (names.insert(one.key).second) out.push_back(std::move(one));
  }
  out.insert(out.end(), own.begin(), own.end());
  return out;
}

namespace {

Result<Value> scalar_value(Calls& calls, const json::YamlNode& node) {
  SLIPWAY_TRY(scalar, read_yaml_scalar(node));
  switch (scalar.kind) {
    case YamlScalar::Kind::Null:
      return Value::null();
    case YamlScalar::Kind::Bool:
      return Value::of(scalar.text == "true");
    case YamlScalar::Kind::Number: {
      auto number = parse_decimal(scalar.text);
      if (!number) return wrong(node, "number out of range");
      return calls.make_number(*number, scalar.is_float);
    }
    case YamlScalar::Kind::Bytes:
      return calls.make_bytes(scalar.text);
    case YamlScalar::Kind::Text:
      break;
  }
  return calls.make_string(scalar.text);
}

Result<Value> value_of(Calls& calls, const json::YamlNode& node, int depth) {
  if (depth > kMaxNesting) return wrong(node, "nested too deeply");
  if (node.kind == json::YamlNode::Kind::Scalar) return scalar_value(calls, node);
  if (node.kind == json::YamlNode::Kind::Sequence) {
    std::vector<Value> items;
    for (const auto& child : node.children) {
      SLIPWAY_TRY(item, value_of(calls, *child, depth + 1));
      items.push_back(item);
    }
    return calls.make_list(items);
  }
  SLIPWAY_TRY(members, read_yaml_members(node));
  std::vector<Calls::Member> fields;
  for (const YamlMember& one : members) {
    SLIPWAY_TRY(value, value_of(calls, *one.value, depth + 1));
    // Keys live as long as the values: the evaluation keeps texts.
    auto known = std::find_if(fields.begin(), fields.end(), [&](const Calls::Member& f) { return f.name == one.key; });
    if (known != fields.end()) {
      known->value = calls.unify(known->value, value);
    } else {
      fields.push_back({calls.make_string(one.key).str(), value});
    }
  }
  return calls.make_struct(fields);
}

}  // namespace

Result<Value> yaml_value(Calls& calls, const json::YamlNode& node) { return value_of(calls, node, 0); }

// --- printing

namespace {

// Words that older readers take for something else than text.
bool is_old_word(std::string_view text) {
  static constexpr std::string_view kWords[] = {"y",  "Y",  "yes", "Yes", "YES", "on",  "On", "ON", "n", "N",
                                                "no", "No", "NO",  "off", "Off", "OFF", "t",  "T",  "f", "F"};
  return std::find(std::begin(kWords), std::end(kWords), text) != std::end(kWords);
}

bool looks_like_date_or_time(std::string_view text) {
  std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  bool is_date =
      digits == 4 && text.size() > digits && text[4] == '-' && text.size() >= 8 && all_of(text.substr(0, 10), "0123456789-");
  bool is_sixty = all_of(text, "0123456789:_.+-") && text.find(':') != std::string_view::npos &&
                  std::isdigit(static_cast<unsigned char>(text[0])) != 0;
  return is_date || is_sixty;
}

bool needs_double_quotes(std::string_view text) {
  std::string number;
  bool is_float = false;
  bool resolves = is_null(text) || read_bool(text, number) || read_number(text, number, is_float) ||
                  !infinity_name(text).empty() || text == "<<" || text == "=";
  return resolves || is_old_word(text) || looks_like_date_or_time(text);
}

bool is_printable(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    Rune rune = decode_rune(text.substr(i));
    bool is_bad = rune.code == kBadRune || rune.code == 0x7F || (rune.code < 0x20 && rune.code != '\n' && rune.code != '\t') ||
                  rune.code == 0xFEFF || (rune.code >= 0x80 && rune.code < 0xA0) || rune.code > 0xFFFF || rune.code == 0x2028 ||
                  rune.code == 0x2029;
    if (is_bad) return false;
    i += rune.bytes;
  }
  return true;
}

bool may_be_plain(std::string_view text) {
  if (text.empty() || text.front() == ' ' || text.back() == ' ' || text.find('\t') != std::string_view::npos) return false;
  if (text.starts_with("---") || text.starts_with("...")) return false;
  static constexpr std::string_view kIndicators = "#,[]{}&*!|>'\"%@`";
  if (kIndicators.find(text[0]) != std::string_view::npos) return false;
  bool opens = text[0] == '-' || text[0] == '?' || text[0] == ':';
  if (opens && (text.size() == 1 || text[1] == ' ')) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ':' && (i + 1 == text.size() || text[i + 1] == ' ')) return false;
    if (text[i] == '#' && i > 0 && text[i - 1] == ' ') return false;
  }
  return true;
}

std::string double_quoted(std::string_view text) {
  std::string out = "\"";
  for (std::size_t i = 0; i < text.size();) {
    Rune rune = decode_rune(text.substr(i));
    std::string_view bytes = text.substr(i, rune.bytes);
    i += rune.bytes;
    static constexpr std::string_view kNamed = "\a\b\t\n\v\f\r\x1b\"\\";
    static constexpr std::string_view kLetters = "abtnvfre\"\\";
    std::size_t named = bytes.size() == 1 ? kNamed.find(bytes[0]) : std::string_view::npos;
    if (named != std::string_view::npos) {
      out += '\\';
      out += kLetters[named];
    } else if (bytes[0] == '\0') {
      out += "\\0";
    } else if (is_printable(bytes)) {
      out += bytes;
    } else {
      out += rune.code == 0x85    ? std::string("\\N")
             : rune.code > 0xFFFF ? fmt::format("\\U{:08X}", rune.code)
             : rune.code > 0xFF   ? fmt::format("\\u{:04X}", rune.code)
                                  : fmt::format("\\x{:02X}", rune.code);
    }
  }
  return out + "\"";
}

std::string single_quoted(std::string_view text) {
  std::string out = "'";
  for (char c : text) out += c == '\'' ? std::string("''") : std::string(1, c);
  return out + "'";
}

// "|", with an indentation mark when the first line begins with blanks, and what happens to newlines at the end.
std::string block(std::string_view value, int indent) {
  bool has_blank_ends = value.ends_with(' ') || value.find(" \n") != std::string_view::npos;
  if (value.find_first_not_of('\n') == std::string_view::npos || has_blank_ends) return double_quoted(value);
  std::string out = "|";
  if (value[0] == ' ' || value[0] == '\n') out += "2";
  if (!value.ends_with('\n'))
    out += "-";
  else if (value.ends_with("\n\n"))
    out += "+";
  std::string_view rest = value;
  if (rest.ends_with('\n')) rest.remove_suffix(1);
  std::string pad(static_cast<std::size_t>(std::max(indent, 2)), ' ');
  if (indent == 0) pad = "  ";
  while (true) {
    std::size_t end = std::min(rest.find('\n'), rest.size());
    out += "\n" + (end > 0 ? pad : std::string()) + std::string(rest.substr(0, end));
    if (end == rest.size()) return out;
    rest.remove_prefix(end + 1);
  }
}

}  // namespace

std::string yaml_key(std::string_view name) {
  if (!is_printable(name) || name.find('\n') != std::string_view::npos || needs_double_quotes(name)) return double_quoted(name);
  return may_be_plain(name) ? std::string(name) : single_quoted(name);
}

std::string yaml_text(std::string_view text, int indent, YamlTextForm form) {
  if (!is_printable(text)) return double_quoted(text);
  bool has_lines = text.find('\n') != std::string_view::npos;
  if (form == YamlTextForm::Flow && has_lines) return double_quoted(text);
  if (has_lines || (form == YamlTextForm::Block && !text.empty())) return block(text, indent);
  if (needs_double_quotes(text)) return double_quoted(text);
  bool is_plain = may_be_plain(text) && (form != YamlTextForm::Flow || text.find_first_of(",[]{}") == std::string_view::npos);
  return is_plain ? std::string(text) : single_quoted(text);
}

namespace {

class YamlPrinter {
 public:
  YamlPrinter(Calls& calls, Value& error) : calls_(calls), error_(error) {}

  std::string document(const Value& value) {
    std::string out = node(value, 0, false);
    return (out.starts_with('\n') ? out.substr(1) : out.starts_with(' ') ? out.substr(1) : out) + "\n";
  }

 private:
  // What follows a key or dash: " scalar", or a newline and lines indented by `indent`.
  std::string node(const Value& raw, int indent, bool in_list) {
    if (indent > 2 * kMaxNesting && !error_.is_bottom()) error_ = calls_.fail("nested too deeply");
    if (error_.is_bottom()) return "";
    Value value = concrete(raw);
    if (error_.is_bottom()) return "";
    if (!value.is_vertex()) return " " + scalar(value, indent);
    if (kinds_of(value) == kList) return list(value, indent, in_list);
    return mapping(value, indent, in_list);
  }

  Value concrete(const Value& raw) {
    Value items[] = {raw};
    Value value = raw;
    if (raw.is_vertex() || !raw.is_concrete_scalar()) {
      const Value list = calls_.make_list(items);
      value = list.is_bottom() ? list : calls_.list_item(list, 0);
    }
    if (value.is_bottom()) error_ = value;
    return value;
  }

  /// Charges for one more part of a text, which lies twice in memory when it is put into the one around it.
  bool goes_on(const std::string& out) {
    if (!error_.is_bottom() && (!calls_.spend(1) || !calls_.has_room(2 * out.size()))) error_ = calls_.ended();
    return !error_.is_bottom();
  }

  std::string list(const Value& value, int indent, bool in_list) {
    if (calls_.list_size(value) == 0) return " []";
    std::string pad(static_cast<std::size_t>(indent), ' ');
    std::string out;
    for (std::size_t i = 0; i < calls_.list_size(value) && goes_on(out); ++i) {
      out += in_list && i == 0 ? " " : "\n" + pad;
      out += "-" + node(calls_.raw_item(value, i), indent + 2, true);
    }
    return out;
  }

  std::string mapping(const Value& value, int indent, bool in_list) {
    Value failure;
    calls_.to_json(value, failure);  // required fields, errors below
    if (failure.is_bottom()) {
      error_ = failure;
      return "";
    }
    std::string pad(static_cast<std::size_t>(indent), ' ');
    std::string out;
    for (const Calls::Member& member : calls_.members_in_order(value)) {
      if (!goes_on(out)) break;
      out += in_list && out.empty() ? " " : "\n" + pad;
      out += yaml_key(member.name) + ":" + node(member.value, indent + 2, false);
    }
    return out.empty() ? " {}" : out;
  }

  std::string scalar(const Value& value, int indent) {
    switch (value.tag) {
      case Value::Tag::String:
        return yaml_text(value.str(), indent, YamlTextForm::Any);
      case Value::Tag::Bytes:
        return "!!binary " + base64_encode(value.str());
      default:
        return calls_.to_json(value, error_);
    }
  }

  Calls& calls_;
  Value& error_;
};

}  // namespace

std::string to_yaml_text(Calls& calls, const Value& value, Value& error) { return YamlPrinter(calls, error).document(value); }

}  // namespace slipway::cue
