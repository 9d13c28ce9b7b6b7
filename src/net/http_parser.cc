#include "net/http_parser.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <utility>

namespace slipway::net {
namespace {

namespace beast = boost::beast;
using boost::system::error_code;
using Text = beast::string_view;

std::string_view view(Text text) { return {text.data(), text.size()}; }

}  // namespace

/// What both kinds of parser share with the class above.
struct MessageParser::Parts {
  explicit Parts(MessageLimits wanted) : limits(wanted) {}
  virtual ~Parts() = default;
  virtual std::size_t put(std::string_view bytes, error_code& error) = 0;
  virtual void put_eof(error_code& error) = 0;
  virtual bool is_head_done() const = 0;
  virtual bool is_done() const = 0;

  MessageLimits limits;
  MessageHead head;
  std::string body;
};

namespace {

Status status_of(const error_code& error, bool is_head_done) {
  using beast::http::error::body_limit;
  using beast::http::error::header_limit;
  if (error == body_limit) return fail(Reason::RequestEntityTooLarge, "the body is larger than the limit").error();
  if (error == header_limit) return fail(Reason::RequestEntityTooLarge, "the header is larger than the limit").error();
  return fail(Reason::BadRequest, (is_head_done ? "malformed body: " : "malformed header: ") + error.message()).error();
}

template <bool is_request, class Parts>
class BeastParser final : public Parts, private beast::http::basic_parser<is_request> {
  using Base = beast::http::basic_parser<is_request>;

 public:
  BeastParser(MessageLimits wanted, bool is_bodyless) : Parts(wanted) {
    Base::header_limit(wanted.header_bytes);
    Base::body_limit(wanted.body_bytes);
    Base::eager(true);
    if (is_bodyless) Base::skip(true);
  }

  std::size_t put(std::string_view bytes, error_code& error) override {
    return Base::put(boost::asio::const_buffer(bytes.data(), bytes.size()), error);
  }
  void put_eof(error_code& error) override { Base::put_eof(error); }
  bool is_head_done() const override { return Base::is_header_done(); }
  bool is_done() const override { return Base::is_done(); }

 private:
  void on_request_impl(beast::http::verb, Text method, Text target, int version, error_code&) override {
    this->head.method = view(method);
    this->head.target = view(target);
    this->head.minor_version = version % 10;
  }
  void on_response_impl(int code, Text, int version, error_code&) override {
    this->head.status = code;
    this->head.minor_version = version % 10;
  }
  void on_field_impl(beast::http::field name, Text text, Text value, error_code& error) override {
    if (Base::is_header_done()) return;  // trailers mean nothing to us
    if (name == beast::http::field::transfer_encoding && !http::equals_ignoring_case(view(value), "chunked")) {
      error = beast::http::error::bad_transfer_encoding;
      return;
    }
    this->head.headers.add(std::string(view(text)), std::string(view(value)));
  }
  void on_header_impl(error_code& error) override {
    auto& head = this->head;
    head.keeps_alive = Base::keep_alive();
    const auto length = Base::content_length();
    head.has_body = Base::chunked() || (length ? *length > 0 : Base::need_eof());
    // A length beside chunks, or chunks twice, is how requests are smuggled past a proxy.
    if (head.headers.all("Transfer-Encoding").size() + (length ? 1 : 0) > 1) error = beast::http::error::bad_transfer_encoding;
  }
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  std::size_t on_body_impl(Text piece, error_code&) override {
    this->body.append(piece.data(), piece.size());
    return piece.size();
  }
  void on_chunk_header_impl(std::uint64_t, Text, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, Text piece, error_code&) override {
    this->body.append(piece.data(), piece.size());
    return piece.size();
  }
  void on_finish_impl(error_code&) override {}
};

}  // namespace

MessageParser MessageParser::request(MessageLimits limits) {
  return MessageParser(std::make_unique<BeastParser<true, Parts>>(limits, false));
}
MessageParser MessageParser::response(MessageLimits limits, bool is_bodyless) {
  return MessageParser(std::make_unique<BeastParser<false, Parts>>(limits, is_bodyless));
}
MessageParser::MessageParser(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
MessageParser::MessageParser(MessageParser&&) noexcept = default;
MessageParser& MessageParser::operator=(MessageParser&&) noexcept = default;
MessageParser::~MessageParser() = default;

Result<void> MessageParser::feed(std::string& input) {
  std::size_t used = 0;
  while (used < input.size() && !is_done()) {
    const std::string_view rest = std::string_view(input).substr(used);
    error_code error;
    const std::size_t taken = parts_->put(rest, error);
    used += taken;
    if (error == beast::http::error::need_more) {
      if (rest.size() - taken > parts_->limits.header_bytes)
        error = beast::http::error::header_limit;
      else
        break;
    }
    if (error) return fail(status_of(error, is_head_done()));
  }
  input.erase(0, used);
  return {};
}

Result<void> MessageParser::finish() {
  if (is_done()) return {};
  if (!is_head_done()) return fail(Reason::BadRequest, "the connection ended within a header");
  error_code error;
  parts_->put_eof(error);
  if (error) return fail(status_of(error, true));
  return {};
}

bool MessageParser::is_head_done() const { return parts_->is_head_done(); }
bool MessageParser::is_done() const { return parts_->is_done(); }
MessageHead& MessageParser::head() { return parts_->head; }
std::string MessageParser::take_body() { return std::exchange(parts_->body, {}); }
std::size_t MessageParser::body_size() const { return parts_->body.size(); }

}  // namespace slipway::net
