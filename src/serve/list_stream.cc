#include "serve/list_stream.h"

#include <utility>

#include "base/turn.h"

namespace slipway::serve {
namespace {

constexpr std::size_t kListPiece = std::size_t{64} << 10;

class ListStream : public http::BodyStream {
 public:
  ListStream(Env& env, ListText text) : text_(std::move(text)), turn_(env, kListPiece) {}

  /// One turn's worth. Whoever sends it lets others run before asking for more.
  std::string piece() {
    std::string piece;
    turn_.begin();
    while (!text_.is_over()) {
      const std::size_t before = piece.size();
      text_.add_to(piece);
      if (turn_.spend(piece.size() - before) && !piece.empty()) break;
    }
    return piece;
  }
  void put_back(std::string piece) { first_ = std::move(piece); }
  bool is_over() const { return text_.is_over(); }

  Task<Result<std::optional<std::string>>> next() override {
    if (is_closed_) co_return std::optional<std::string>{};
    std::string made = first_.empty() ? piece() : std::exchange(first_, {});
    if (made.empty()) co_return std::optional<std::string>{};
    co_return std::optional(std::move(made));
  }
  void close() override { is_closed_ = true; }

 private:
  ListText text_;
  Turn turn_;
  std::string first_;
  bool is_closed_ = false;
};

}  // namespace

http::Response list_response(Env& env, ListText text, const Form& form) {
  http::Response response;
  response.headers.add("Content-Type", form.content_type());
  auto stream = std::make_unique<ListStream>(env, std::move(text));
  std::string first = stream->piece();
  if (stream->is_over()) {
    response.body = std::move(first);
  } else {
    stream->put_back(std::move(first));
    response.stream = std::move(stream);
  }
  return response;
}

}  // namespace slipway::serve
