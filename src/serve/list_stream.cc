#include "serve/list_stream.h"

#include <algorithm>
#include <utility>

#include "json/text.h"

namespace slipway::serve {
namespace {

using json::Value;

constexpr std::size_t kManyItems = 128;
constexpr std::size_t kPiece = 64 * 1024;

class ListStream : public http::BodyStream {
 public:
  explicit ListStream(Value answer) : answer_(std::move(answer)), member_(answer_.members().begin()) {}

  Task<Result<std::optional<std::string>>> next() override {
    std::string piece;
    if (!is_over_) piece.reserve(kPiece + kPiece / 4);
    while (!is_over_ && piece.size() < kPiece) add_to(piece);
    if (piece.empty()) co_return std::optional<std::string>{};
    co_return std::optional(std::move(piece));
  }
  void close() override { is_over_ = true; }

 private:
  /// One member, or one item of a member that has many.
  void add_to(std::string& piece) {
    if (member_ == answer_.members().end()) {
      piece += is_first_ ? "{}\n" : "}\n";
      is_over_ = true;
      return;
    }
    const auto [key, value] = *member_;
    if (next_item_ == 0) {
      piece += std::exchange(is_first_, false) ? '{' : ',';
      json::print_to(piece, Value(key));
      piece += ':';
    }
    if (!value.is_array() || value.empty()) {
      json::print_to(piece, value);
      ++member_;
      return;
    }
    piece += next_item_ == 0 ? '[' : ',';
    json::print_to(piece, value.item(next_item_++));
    if (next_item_ < value.size()) return;
    piece += ']';
    next_item_ = 0;
    ++member_;
  }

  const Value answer_;
  decltype(answer_.members().begin()) member_;
  std::size_t next_item_ = 0;
  bool is_first_ = true;
  bool is_over_ = false;
};

}  // namespace

bool is_long_list(const Value& answer) {
  return std::ranges::any_of(answer.members(),
                             [](const auto& member) { return member.value.is_array() && member.value.size() >= kManyItems; });
}

std::unique_ptr<http::BodyStream> list_stream(Value answer) { return std::make_unique<ListStream>(std::move(answer)); }

}  // namespace slipway::serve
