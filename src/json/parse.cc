// JSON text to values. simdjson's first stage finds where tokens begin and checks UTF-8 and strings, many bytes at a time; the
// grammar, the exact text of numbers and the errors with their places are ours. Nothing recurses.
#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <iterator>
#include <memory>

#include "base/text.h"
#include "json/layout.h"
#include "json/loose.h"
#include "json/text.h"
#include "json/utf8.h"

namespace slipway::json {

namespace {

struct Fault {
  std::size_t offset = 0;
  std::string message;
};

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
bool is_punctuation(char c) { return c == '{' || c == '}' || c == '[' || c == ']' || c == ':' || c == ','; }

// Where tokens begin. Only simdjson's allocation may throw, which it does not (it reports MEMALLOC).
class Tokens {
 public:
  enum class Speed : std::uint8_t { Fast, Slow };
  Tokens(std::string_view text, Speed speed) : text_(text) {
    if (speed == Speed::Slow || !find_fast()) find_slowly();
  }

  std::size_t count() const { return count_; }
  std::size_t at(std::size_t token) const { return token < count_ ? starts_[token] : text_.size(); }
  /// The fault inside the last token, when it is a broken string.
  const Fault* broken(std::size_t token) const { return fault_ && token + 1 == count_ ? &*fault_ : nullptr; }

 private:
  bool find_fast() {
    if (text_.empty()) return true;
    auto error = simdjson::get_active_implementation()->create_dom_parser_implementation(text_.size(), 1, parser_);
    if (error) return false;
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(text_.data());
    error = parser_->stage1(bytes, text_.size(), simdjson::stage1_mode::regular);
    if (error) return false;
    starts_ = parser_->structural_indexes.get();
    count_ = parser_->n_structural_indexes;
    return true;
  }

  // The same by hand up to the first broken string: only to say what is wrong, and where.
  void find_slowly() {
    std::size_t at = 0;
    while (at < text_.size() && !fault_) {
      const char c = text_[at];
      if (is_space(c)) {
        ++at;
        continue;
      }
      slow_.push_back(static_cast<std::uint32_t>(at++));
      if (c == '"') {
        at = skip_string(at);
      } else if (!is_punctuation(c)) {
        while (at < text_.size() && !is_space(text_[at]) && !is_punctuation(text_[at]) && text_[at] != '"') ++at;
      }
    }
    starts_ = slow_.data();
    count_ = slow_.size();
  }

  std::size_t skip_string(std::size_t at) {
    const std::size_t start = at - 1;
    while (at < text_.size()) {
      const auto c = static_cast<unsigned char>(text_[at]);
      if (c == '"') return at + 1;
      if (c == '\n') break;
      if (c < 0x20) {
        fault_ = Fault{at, fmt::format("control character 0x{:02x} in a string (write it as an escape)", c)};
        return at;
      }
      const std::size_t bytes = c == '\\' ? std::min<std::size_t>(2, text_.size() - at) : utf8_character(text_.substr(at));
      if (bytes == 0) {
        fault_ = Fault{at, "invalid UTF-8"};
        return at;
      }
      at += bytes;
    }
    fault_ = Fault{start, "string is not closed on its line"};
    return at;
  }

  std::string_view text_;
  std::unique_ptr<simdjson::internal::dom_parser_implementation> parser_;
  std::vector<std::uint32_t> slow_;
  const std::uint32_t* starts_ = nullptr;
  std::size_t count_ = 0;
  std::optional<Fault> fault_;
};

class Reader {
 public:
  /// `doubled`: takes the paths of doubled keys, of which the last one counts; null: they are a fault.
  Reader(std::string_view text, const Limits& limits, Tokens::Speed speed, std::vector<std::string>* doubled = nullptr)
      : text_(text), limits_(limits), tokens_(text, speed), doubled_(doubled) {
    values_.reserve(64);
    frames_.reserve(16);
  }

  bool read();
  Value take() { return std::move(values_.front()); }
  const Fault& fault() const { return fault_; }

 private:
  enum class Expect : std::uint8_t { Value, FirstItem, FirstKey, Key, Colon, MemberEnd, ItemEnd, Nothing };
  struct Frame {
    std::uint32_t first_value;
    std::uint32_t token;
    bool is_object;
  };

  bool step(std::size_t at);
  bool begin(bool is_object);
  bool end();
  bool add_scalar(std::size_t at);
  bool add_string(std::size_t at);
  bool add_number(std::size_t at, std::string_view token);
  bool unescape(std::size_t at, std::string_view raw);
  std::optional<char32_t> hex4(std::string_view raw, std::size_t at) const;
  Value make_string(std::string_view text);
  bool repeated_key(const Frame& frame, const Value& object, std::size_t member);
  void drop_doubled(const Frame& frame);
  std::string path_to(const Frame& frame) const;
  bool failed(std::size_t offset, std::string message) {
    fault_ = {offset, std::move(message)};
    return false;
  }
  bool unexpected(std::size_t at);
  Expect after_value() const {
    if (frames_.empty()) return Expect::Nothing;
    return frames_.back().is_object ? Expect::MemberEnd : Expect::ItemEnd;
  }
  // The scalar at `at` with the blanks behind it cut off.
  std::string_view token_text(std::size_t at) const {
    std::size_t end = tokens_.at(next_ + 1);
    while (end > at && is_space(text_[end - 1])) --end;
    return text_.substr(at, end - at);
  }

  std::string_view text_;
  const Limits& limits_;
  Tokens tokens_;
  std::vector<std::string>* doubled_;
  std::size_t doubled_bytes_ = 0;
  std::size_t next_ = 0;
  Expect expect_ = Expect::Value;
  std::vector<Value> values_;  // of the open containers, keys between
  std::vector<Frame> frames_;
  std::string scratch_;
  std::vector<std::uint32_t> order_;  // of drop_doubled(), kept for its room
  std::array<Value, 128> recent_;     // long strings seen last, to share them
  Fault fault_;
};

bool Reader::read() {
  for (; next_ < tokens_.count(); ++next_) {
    if (!step(tokens_.at(next_))) return false;
  }
  return expect_ == Expect::Nothing || unexpected(text_.size());
}

// Handles one token according to what may come.
bool Reader::step(std::size_t at) {
  const char c = text_[at];
  switch (expect_) {
    case Expect::FirstItem:
      if (c == ']') return end();
      [[fallthrough]];
    case Expect::Value:
      if (c == '{' || c == '[') return begin(c == '{');
      if (is_punctuation(c)) return unexpected(at);
      if (!add_scalar(at)) return false;
      expect_ = after_value();
      return true;
    case Expect::FirstKey:
      if (c == '}') return end();
      [[fallthrough]];
    case Expect::Key:
      if (c != '"') return unexpected(at);
      expect_ = Expect::Colon;
      return add_string(at);
    case Expect::Colon:
      expect_ = Expect::Value;
      return c == ':' || unexpected((expect_ = Expect::Colon, at));
    case Expect::MemberEnd:
      expect_ = c == ',' ? Expect::Key : Expect::MemberEnd;
      return c == ',' || (c == '}' ? end() : unexpected(at));
    case Expect::ItemEnd:
      expect_ = c == ',' ? Expect::Value : Expect::ItemEnd;
      return c == ',' || (c == ']' ? end() : unexpected(at));
    case Expect::Nothing:
      break;
  }
  return unexpected(at);
}

bool Reader::begin(bool is_object) {
  if (frames_.size() >= limits_.max_depth) {
    return failed(tokens_.at(next_), fmt::format("nested deeper than {} levels", limits_.max_depth));
  }
  frames_.push_back({static_cast<std::uint32_t>(values_.size()), static_cast<std::uint32_t>(next_), is_object});
  expect_ = is_object ? Expect::FirstKey : Expect::FirstItem;
  return true;
}

bool Reader::end() {
  const Frame frame = frames_.back();
  if (doubled_ != nullptr && frame.is_object) drop_doubled(frame);
  frames_.pop_back();
  const std::span<Value> content = std::span(values_).subspan(frame.first_value);
  std::optional<std::size_t> repeated;
  Value made = frame.is_object ? Layout::object(content, &repeated) : Layout::array(content);
  values_.resize(frame.first_value);
  if (repeated) return repeated_key(frame, made, *repeated);
  values_.push_back(std::move(made));
  expect_ = after_value();
  return true;
}

bool Reader::add_scalar(std::size_t at) {
  const char c = text_[at];
  if (c == '"') return add_string(at);
  const std::string_view token = token_text(at);
  if (c == '-' || is_digit(c)) return add_number(at, token);
  if (token == "true" || token == "false") {
    values_.emplace_back(c == 't');
  } else if (token == "null") {
    values_.emplace_back();
  } else {
    return unexpected(at);
  }
  return true;
}

// JSON's grammar of numbers; short integers, the usual case, are read on the way.
bool Reader::add_number(std::size_t at, std::string_view token) {
  std::size_t i = token[0] == '-' ? 1 : 0;
  auto digits = [&] {
    const std::size_t first = i;
    while (i < token.size() && is_digit(token[i])) ++i;
    return i - first;
  };
  const std::size_t whole = digits();
  bool valid = whole == 1 || (whole > 1 && token[token[0] == '-'] != '0');
  const bool integral = i == token.size();
  if (valid && integral && whole <= 18 && token != "-0") {
    std::int64_t value = 0;
    for (char digit : token.substr(i - whole)) value = value * 10 + (digit - '0');
    values_.emplace_back(token[0] == '-' ? -value : value);
    return true;
  }
  if (i < token.size() && token[i] == '.') valid = (++i, digits() > 0) && valid;
  if (i < token.size() && (token[i] == 'e' || token[i] == 'E')) {
    ++i;
    if (i < token.size() && (token[i] == '+' || token[i] == '-')) ++i;
    valid = digits() > 0 && valid;
  }
  if (!valid || i != token.size()) {
    return failed(at, fmt::format("invalid number {}", print(Value(token.substr(0, 40)))));
  }
  Value number = Value::number(token);
  if (!number.is_int() && std::isinf(number.as_double()))
    return failed(at, fmt::format("number {} is out of range", token.substr(0, 40)));
  values_.push_back(std::move(number));
  return true;
}

// The first stage has seen the closing quote: it is the last thing before the next token.
bool Reader::add_string(std::size_t at) {
  if (const Fault* fault = tokens_.broken(next_)) return failed(fault->offset, fault->message);
  const std::string_view token = token_text(at);
  const std::string_view raw = token.substr(1, token.size() - 2);
  if (std::memchr(raw.data(), '\\', raw.size()) != nullptr) return unescape(at + 1, raw);
  values_.push_back(raw.size() <= Layout::kInlineBytes ? Layout::short_string(raw) : make_string(raw));
  return true;
}

Value Reader::make_string(std::string_view text) {
  if (text.size() <= Layout::kInlineBytes || text.size() > 64) return Value(text);
  std::uint64_t head = 0, tail = 0;
  std::memcpy(&head, text.data(), 8);
  std::memcpy(&tail, text.data() + text.size() - 8, 8);
  Value& recent = recent_[((head * 31 + tail) * 0x9e3779b97f4a7c15) >> 57];
  if (recent.as_string() != text) recent = Value(text);
  return recent;
}

std::optional<char32_t> Reader::hex4(std::string_view raw, std::size_t at) const {
  if (at + 4 > raw.size()) return std::nullopt;
  char32_t code = 0;
  for (char c : raw.substr(at, 4)) {
    const int lower = c | 0x20;
    if (!is_digit(c) && (lower < 'a' || lower > 'f')) return std::nullopt;
    code = code * 16 + static_cast<char32_t>(is_digit(c) ? c - '0' : lower - 'a' + 10);
  }
  return code;
}

// As Go: a surrogate without its other half becomes U+FFFD.
bool Reader::unescape(std::size_t at, std::string_view raw) {
  constexpr std::string_view kLetters = "\"\\/bfnrt";
  constexpr std::string_view kMeans = "\"\\/\b\f\n\r\t";
  scratch_.clear();
  for (std::size_t i = 0; i < raw.size();) {
    if (raw[i] != '\\') {
      const std::size_t plain = std::min(raw.find('\\', i), raw.size());
      scratch_.append(raw, i, plain - i);
      i = plain;
      continue;
    }
    const char letter = raw[i + 1];
    if (const std::size_t known = kLetters.find(letter); known != std::string_view::npos) {
      scratch_ += kMeans[known];
      i += 2;
      continue;
    }
    auto code = letter == 'u' ? hex4(raw, i + 2) : std::nullopt;
    if (!code)
      return failed(at + i, fmt::format("invalid escape {} in a string", print(Value(raw.substr(i, letter == 'u' ? 6 : 2)))));
    i += 6;
    if (*code >= 0xd800 && *code < 0xdc00 && raw.substr(i).starts_with("\\u")) {
      const auto low = hex4(raw, i + 2);
      if (low && *low >= 0xdc00 && *low < 0xe000) {
        code = 0x10000 + ((*code - 0xd800) << 10) + (*low - 0xdc00);
        i += 6;
      }
    }
    append_utf8(scratch_, *code >= 0xd800 && *code < 0xe000 ? 0xfffd : *code);
  }
  values_.push_back(make_string(scratch_));
  return true;
}

// Takes the earlier ones of members with the same key out of the open object.
void Reader::drop_doubled(const Frame& frame) {
  const std::span<Value> pairs = std::span(values_).subspan(frame.first_value);
  order_.clear();
  for (std::size_t at = 0; at < pairs.size(); at += 2) order_.push_back(static_cast<std::uint32_t>(at));
  const auto key_at = [&](std::uint32_t at) { return pairs[at].as_string(); };
  std::ranges::sort(order_, [&](std::uint32_t a, std::uint32_t b) {
    return Layout::key_less(key_at(a), key_at(b)) || (a < b && key_at(a) == key_at(b));
  });
  std::vector<std::uint32_t> gone;
  std::vector<std::uint32_t> told;  // of each doubled key the last but one: in this order they are told, from the back
  for (std::size_t i = 1; i < order_.size(); ++i) {
    if (!Layout::same_text(pairs[order_[i - 1]], pairs[order_[i]])) continue;
    gone.push_back(order_[i - 1]);
    const bool is_last = i + 1 == order_.size() || !Layout::same_text(pairs[order_[i]], pairs[order_[i + 1]]);
    if (is_last) told.push_back(order_[i - 1]);
  }
  if (gone.empty()) return;
  std::ranges::sort(told, std::greater());
  const auto has_room = [&] { return doubled_->size() < kMostDoubled && doubled_bytes_ < kMostDoubledBytes; };
  const std::string above = has_room() ? path_to(frame) : std::string();
  for (const std::uint32_t at : told) {
    if (!has_room()) break;
    std::string path = above.empty() ? std::string(key_at(at)) : above + "." + std::string(key_at(at));
    if (std::ranges::find(*doubled_, path) != doubled_->end()) continue;
    doubled_bytes_ += path.size();
    doubled_->push_back(std::move(path));
  }
  std::ranges::sort(gone);
  std::size_t kept = gone.front();
  for (std::size_t at = kept, next = 0; at < pairs.size(); at += 2) {
    if (next < gone.size() && gone[next] == at) {
      ++next;
      continue;
    }
    pairs[kept] = std::move(pairs[at]);
    pairs[kept + 1] = std::move(pairs[at + 1]);
    kept += 2;
  }
  values_.resize(frame.first_value + kept);
}

// Where the open container stands: before its first value lies, in the container around it, its key or the items before it.
std::string Reader::path_to(const Frame& frame) const {
  std::string path;
  const Frame* outer = nullptr;
  for (const Frame& inner : frames_) {
    if (outer != nullptr && outer->is_object) {
      path += (path.empty() ? "" : ".") + values_[inner.first_value - 1].str();
    } else if (outer != nullptr) {
      path += fmt::format("[{}]", inner.first_value - outer->first_value);
    }
    outer = &inner;
    if (inner.first_value == frame.first_value && inner.token == frame.token) break;
  }
  return path;
}

// Walks the object's tokens again to find where the member stands.
bool Reader::repeated_key(const Frame& frame, const Value& object, std::size_t member) {
  std::size_t depth = 0, seen = 0, at = 0;
  for (std::size_t token = frame.token + 1; token < next_; ++token) {
    at = tokens_.at(token);
    const char c = text_[at];
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (c == ',' && depth == 0) ++seen;
    if (seen == member && c == '"') break;
  }
  return failed(at, fmt::format("duplicate key {}", print(Layout::key(object, member))));
}

bool Reader::unexpected(std::size_t at) {
  static constexpr std::string_view kExpected[] = {"a value",
                                                   "a value or ']'",
                                                   "a key in quotes or '}'",
                                                   "a key in quotes after ','",
                                                   "':' after a key",
                                                   "',' or '}' after a member",
                                                   "',' or ']' after an item",
                                                   "nothing after the end of the value"};
  std::string found = "the end of the text";
  if (at < text_.size()) {
    const char c = text_[at];
    const std::string_view token = token_text(at);
    found = is_punctuation(c) ? fmt::format("'{}'", c) : c == '"' ? "a string" : print(Value(token.substr(0, 40)));
  }
  return failed(at, fmt::format("expected {}, found {}", kExpected[static_cast<std::size_t>(expect_)], found));
}

std::string place(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const std::size_t line = 1 + static_cast<std::size_t>(std::ranges::count(before, '\n'));
  const std::string_view in_line = before.substr(before.rfind('\n') + 1);
  const auto column = 1 + std::ranges::count_if(in_line, [](char c) { return (c & 0xc0) != 0x80; });
  return fmt::format("line {}, column {}", line, column);
}

}  // namespace

Result<Value> parse(std::string_view text, Limits limits) {
  if (text.size() > limits.max_bytes) {
    return fail(Reason::RequestEntityTooLarge, fmt::format("Request entity too large: limit is {}", limits.max_bytes));
  }
  Reader reader(text, limits, Tokens::Speed::Fast);
  if (reader.read()) return reader.take();
  // Where tokens of broken text begin differs between processors; the message must not.
  Reader again(text, limits, Tokens::Speed::Slow);
  const bool agrees = !again.read();
  const Fault& fault = agrees ? again.fault() : reader.fault();
  return fail(Reason::BadRequest, fmt::format("json: {}: {}", place(text, fault.offset), fault.message));
}

Result<LooseText> parse_loosely(std::string_view text, Limits limits) {
  auto strict = parse(text, limits);
  if (strict) return LooseText{std::move(*strict), {}};
  LooseText loose;
  Reader reader(text, limits, Tokens::Speed::Fast, &loose.doubled);
  if (text.size() > limits.max_bytes || !reader.read()) return fail(std::move(strict).error());
  loose.value = reader.take();
  return loose;
}

}  // namespace slipway::json
