// Packages encoding/base64, encoding/hex and encoding/csv.
#include <fmt/format.h>

#include "cue/std/packages.h"

namespace slipway::cue {
namespace encoding_packages {
namespace {

using Args = std::span<const Value>;

// --- base64: the standard alphabet, padded; the first argument is reserved and must be null

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

Value check_encoding(Calls& calls, const Value& encoding) {
  if (encoding.tag == Value::Tag::Null) return {};
  return calls.fail(fmt::format("base64: unsupported encoding: cannot use value {} (type {}) as null", calls.show(encoding),
                                kind_name(encoding)));
}

Value base64_encode(Calls& calls, Args args) {
  if (Value error = check_encoding(calls, args[0]); error.is_bottom()) return error;
  std::string_view bytes = args[1].str();
  if (!calls.has_room(4 * bytes.size())) return calls.ended();
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t word = 0;
    for (std::size_t k = 0; k < 3; ++k)
      word = word << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k) out += i + k > bytes.size() ? '=' : kAlphabet[word >> (18 - 6 * k) & 63];
  }
  return calls.make_string(out);
}

Value base64_decode(Calls& calls, Args args) {
  if (Value error = check_encoding(calls, args[0]); error.is_bottom()) return error;
  std::string out;
  std::uint32_t word = 0;
  int count = 0;
  int padding = 0;
  std::size_t at = 0;
  auto wrong = [&] { return calls.fail(fmt::format("illegal base64 data at input byte {}", at - at % 4)); };
  std::string_view text = args[1].str();
  for (; at < text.size(); ++at) {
    char c = text[at];
    if (c == '\n' || c == '\r') continue;
    std::size_t digit = kAlphabet.find(c);
    if (c == '=' && count >= 2) {
      ++padding;
      digit = 0;
    } else if (digit == std::string_view::npos || padding > 0) {
      return wrong();
    }
    word = word << 6 | static_cast<std::uint32_t>(digit);
    if (++count < 4) continue;
    for (int k = 0; k < 3 - padding; ++k) out += static_cast<char>(word >> (16 - 8 * k) & 255);
    if (padding > 0 && at + 1 < text.size() && text.find_first_not_of("\r\n", at + 1) != std::string_view::npos) return wrong();
    word = 0;
    count = 0;
  }
  return count == 0 ? calls.make_bytes(out) : wrong();
}

Value base64_encoded_length(Calls& calls, Args args) {
  if (Value error = check_encoding(calls, args[0]); error.is_bottom()) return error;
  return Value::of_int((to_int(args[1]) + 2) / 3 * 4);
}
Value base64_decoded_length(Calls& calls, Args args) {
  if (Value error = check_encoding(calls, args[0]); error.is_bottom()) return error;
  return Value::of_int(to_int(args[1]) / 4 * 3);
}

// --- hex

Value hex_encode(Calls& calls, Args args) {
  if (!calls.has_room(4 * std::uint64_t{args[0].size})) return calls.ended();
  std::string out;
  for (char c : args[0].str()) out += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return calls.make_string(out);
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

Value hex_decode(Calls& calls, Args args) {
  std::string_view text = args[0].str();
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (hex_digit(text[i]) < 0) return calls.fail(fmt::format("encoding/hex: invalid byte: U+{:04X} '{}'", text[i], text[i]));
    if (i % 2 == 1) out += static_cast<char>(hex_digit(text[i - 1]) * 16 + hex_digit(text[i]));
  }
  if (text.size() % 2 == 1) return calls.fail("encoding/hex: odd length hex string");
  return calls.make_bytes(out);
}

Value hex_encoded_length(Calls&, Args args) { return Value::of_int(to_int(args[0]) * 2); }
Value hex_decoded_length(Calls&, Args args) { return Value::of_int(to_int(args[0]) / 2); }

Value hex_dump(Calls& calls, Args args) {
  std::string_view bytes = args[0].str();
  constexpr std::uint64_t kMostBytes = 12;  // 79 characters for 16 bytes, while the text grows
  if (!calls.has_room(kMostBytes * bytes.size())) return calls.ended();
  std::string out;
  for (std::size_t line = 0; line < bytes.size(); line += 16) {
    out += fmt::format("{:08x}", line);
    std::string shown;
    for (std::size_t i = line; i < line + 16; ++i) {
      out += i % 16 == 0 || i % 16 == 8 ? "  " : " ";
      if (i >= bytes.size()) {
        out += "  ";
        continue;
      }
      auto byte = static_cast<unsigned char>(bytes[i]);
      out += fmt::format("{:02x}", byte);
      shown += byte < 32 || byte > 126 ? '.' : static_cast<char>(byte);
    }
    out += "  |" + shown + "|\n";
  }
  return calls.make_string(out);
}

// --- csv

Value csv_decode(Calls& calls, Args args) {
  std::string_view text = args[0].str();
  std::vector<Value> rows;
  std::vector<std::string> row;
  std::string cell;
  bool is_quoted = false;
  bool was_quoted = false;
  auto end_row = [&] {
    if (row.empty() && cell.empty() && !was_quoted) return;
    row.push_back(std::exchange(cell, {}));
    was_quoted = false;
    rows.push_back(make_texts(calls, row));
    row.clear();
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (is_quoted) {
      if (c != '"') {
        cell += c;
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        cell += '"';
        ++i;
      } else {
        is_quoted = false;
      }
    } else if (c == '"' && cell.empty() && !was_quoted) {
      is_quoted = was_quoted = true;
    } else if (c == '"') {
      return calls.fail(fmt::format("parse error on line {}: bare \" in non-quoted-field", rows.size() + 1));
    } else if (c == ',') {
      row.push_back(std::exchange(cell, {}));
      was_quoted = false;
    } else if (c == '\n') {
      end_row();
    } else if (c != '\r' || i + 1 >= text.size() || text[i + 1] != '\n') {
      cell += c;
    }
  }
  if (is_quoted) return calls.fail("parse error: extraneous or missing \" in quoted-field");
  end_row();
  for (const Value& one : rows) {
    if (calls.list_size(one) != calls.list_size(rows[0])) return calls.fail("wrong number of fields");
  }
  return calls.make_list(rows);
}

Value csv_encode(Calls& calls, Args args) {
  std::string out;
  Value no_list;
  if (!is_list(calls, args[0], no_list)) return no_list;
  for (std::size_t i = 0; i < calls.list_size(args[0]); ++i) {
    Value row = calls.list_item(args[0], i);
    if (!calls.has_room(2 * out.size())) return calls.ended();
    if (row.is_bottom()) return row;
    if (kinds_of(row) != kList) return calls.fail(fmt::format("row {} is no list", i));
    for (std::size_t k = 0; k < calls.list_size(row); ++k) {
      Value cell = calls.list_item(row, k);
      if (cell.is_bottom()) return cell;
      Value error;
      std::string text = cell.tag == Value::Tag::String ? std::string(cell.str()) : calls.to_json(cell, error);
      if (error.is_bottom()) return error;
      if (k > 0) out += ',';
      bool needs_quotes = text.find_first_of(",\"\r\n") != std::string::npos || text.starts_with(' ') ||
                          text.starts_with('\t') || text == "\\.";
      if (!needs_quotes) {
        out += text;
        continue;
      }
      out += '"';
      for (char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
      out += '"';
    }
    out += '\n';
  }
  return calls.make_string(out);
}

constexpr auto& kBytesOnly = kParams < kString | kBytes > ;
constexpr auto &kWithEncoding = kParams < kTop, kString | kBytes > ;
constexpr auto& kLength = kParams<kTop, kInt>;

constexpr Builtin kBase64[] = {
    {"encoding/base64", "Encode", kWithEncoding, kString, base64_encode},
    {"encoding/base64", "Decode", kParams<kTop, kString>, kBytes, base64_decode},
    {"encoding/base64", "EncodedLen", kLength, kInt, base64_encoded_length},
    {"encoding/base64", "DecodedLen", kLength, kInt, base64_decoded_length},
};
constexpr Builtin kHex[] = {
    {"encoding/hex", "Encode", kBytesOnly, kString, hex_encode},
    {"encoding/hex", "Decode", kParams<kString>, kBytes, hex_decode},
    {"encoding/hex", "EncodedLen", kParams<kInt>, kInt, hex_encoded_length},
    {"encoding/hex", "DecodedLen", kParams<kInt>, kInt, hex_decoded_length},
    {"encoding/hex", "Dump", kBytesOnly, kString, hex_dump},
};
constexpr Builtin kCsv[] = {
    {"encoding/csv", "Decode", kBytesOnly, kList, csv_decode},
    {"encoding/csv", "Encode", kParams<kTop>, kString, csv_encode},
};

}  // namespace
}  // namespace encoding_packages

std::span<const Builtin> base64_rows() { return encoding_packages::kBase64; }
std::span<const Builtin> hex_rows() { return encoding_packages::kHex; }
std::span<const Builtin> csv_rows() { return encoding_packages::kCsv; }

}  // namespace slipway::cue
