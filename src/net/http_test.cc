#include "net/http.h"

#include <gtest/gtest.h>

#include "net/http_parser.h"

namespace slipway::net {
namespace {

TEST(Headers, compare_names_without_case_and_keep_their_order) {
  http::Headers headers{{"Accept", "a"}, {"ACCEPT", "b"}, {"Connection", "keep-alive, Upgrade"}};
  EXPECT_EQ(headers.get("accept"), "a");
  EXPECT_EQ(headers.all("Accept").size(), 2U);
  EXPECT_TRUE(headers.has_token("connection", "upgrade"));
  EXPECT_FALSE(headers.has_token("connection", "keep"));
  headers.set("accept", "c");
  EXPECT_EQ(headers, (http::Headers{{"Connection", "keep-alive, Upgrade"}, {"accept", "c"}}));
}

TEST(Http, decodes_escapes_and_refuses_broken_ones) {
  EXPECT_EQ(percent_decode("a%2Fb+c%C3%a9"), "a/b+c\xc3\xa9");
  EXPECT_EQ(percent_decode("a+b", Plus::space), "a b");
  for (const char* broken : {"%", "%2", "%zz", "a%2"}) EXPECT_FALSE(percent_decode(broken)) << broken;
  EXPECT_EQ(percent_encode("a b/ü~"), "a%20b%2F%C3%BC~");
}

TEST(Http, splits_a_target_and_decodes_it_when_asked) {
  const Target target = Target::split("/api/v1/namespaces/a%2Fb/pods/?labelSelector=app%3Dweb&watch");
  EXPECT_EQ(target.path, "/api/v1/namespaces/a%2Fb/pods/");
  EXPECT_EQ(target.segments(), (std::vector<std::string>{"api", "v1", "namespaces", "a/b", "pods", ""}));
  const auto query = Query::parse(target.query);
  ASSERT_TRUE(query);
  EXPECT_EQ(query->get("labelSelector"), "app=web");
  EXPECT_EQ(query->find("watch"), "");
  EXPECT_EQ(query->find("other"), std::nullopt);
  EXPECT_EQ(query->encode(), "labelSelector=app%3Dweb&watch=");
  EXPECT_EQ(Target::split("http://host:1/a?b").path, "/a");
  EXPECT_EQ(Target::split("http://host").path, "/");
}

TEST(Http, reads_urls) {
  const auto url = Url::parse("https://[::1]:6443/api?x=1#y");
  ASSERT_TRUE(url);
  EXPECT_TRUE(url->is_tls);
  EXPECT_EQ(url->authority(), "[::1]:6443");
  EXPECT_EQ(url->target, "/api?x=1");
  EXPECT_EQ(Url::parse("http://u%40:p@proxy")->user_password, "u@:p");
  EXPECT_EQ(Url::parse("http://proxy?q")->target, "/?q");
  EXPECT_EQ(Url::parse("https://host:443/")->host_header(), "host");
  for (const char* broken :
       {"", "ftp://a", "http://", "http://[::1", "http://a:0", "http://a:99999", "http://a:b", "http://a/b c"}) {
    EXPECT_FALSE(Url::parse(broken)) << broken;
  }
}

TEST(Http, writes_heads_that_no_value_can_break_out_of) {
  EXPECT_EQ(response_head(200, {{"A", "b\r\nEvil: 1"}}), "HTTP/1.1 200 OK\r\nA: b  Evil: 1\r\n\r\n");
  EXPECT_EQ(chunk("hello, chunked world"), "14\r\nhello, chunked world\r\n");
  EXPECT_EQ(http_date(Time{std::chrono::seconds{784111777}}), "Sun, 06 Nov 1994 08:49:37 GMT");
}

TEST(Http, a_request_whose_parts_could_end_their_line_is_refused) {
  const auto fault = [](std::string_view method, const http::Headers& headers) {
    const auto checked = check_request(method, headers);
    return checked ? "" : checked.error().message;
  };
  EXPECT_EQ(fault("GET", {{"X-A", "b c\td"}, {"Cookie", "\xc3\xbc"}}), "");
  EXPECT_EQ(fault("M-SEARCH", {}), "");
  for (const char* method : {"", "GET ", "GET /x HTTP/1.1\r\nHost: a\r\n\r\nGET", "G:T", "G\xc3\xbc"}) {
    EXPECT_EQ(fault(method, {}), "the HTTP method is no token such as GET") << method;
  }
  for (const char* name : {"", "X A", "X:", "X\r\nEvil", "(x)"}) {
    EXPECT_EQ(fault("GET", {{name, "v"}}), "the name of an HTTP header is no token such as Content-Type") << name;
  }
  for (const char* value : {"a\r\nEvil: 1", "a\nb", "a\x01", "a\x7f"}) {
    EXPECT_EQ(fault("GET", {{"X-A", value}}), "the value of the HTTP header X-A holds control characters") << value;
  }
  EXPECT_FALSE(Url::parse("http://a\r\nX-Inj: 1/"));
  EXPECT_FALSE(Url::parse("http://a b/"));
}

/// The reason for which a request is refused; nullopt when it is taken. Fed in pieces of every size.
std::optional<Reason> refusal(const std::string& request, MessageLimits limits = {}) {
  std::optional<Reason> first;
  for (const std::size_t step : {request.size(), std::size_t{1}, std::size_t{7}}) {
    MessageParser parser = MessageParser::request(limits);
    std::string input;
    std::optional<Reason> reason;
    for (std::size_t at = 0; at < request.size() && !parser.is_done() && !reason; at += step) {
      input += request.substr(at, step);
      if (const auto fed = parser.feed(input); !fed) reason = fed.error().reason;
    }
    if (!reason && !parser.is_done()) reason = Reason::Timeout;
    if (step == request.size()) first = reason;
    EXPECT_EQ(first.has_value(), reason.has_value()) << request << " in steps of " << step;
  }
  return first;
}

TEST(MessageParser, refuses_malformed_requests) {
  EXPECT_EQ(refusal("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), std::nullopt);
  for (const std::string request : {
           "\x16\x03\x01\x02\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01",
           "GET\r\n\r\n",
           "GET /\r\n\r\n",
           "GET / HTTP/2.0\r\n\r\n",
           "GET / HTTP/1.1\nHost: a\n\n",
           "G@T / HTTP/1.1\r\n\r\n",
           "GET /a b HTTP/1.1\r\n\r\n",
           "GET / HTTP/1.1\r\nHost : a\r\n\r\n",
           "GET / HTTP/1.1\r\n: a\r\n\r\n",
           "GET / HTTP/1.1\r\nA\r\n\r\n",
           "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
           "POST / HTTP/1.1\r\nContent-Length: 1x\r\n\r\n",
           "POST / HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n",
           "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\na",
           "POST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
           "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
           "POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
           "POST / HTTP/1.1\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
           "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n",
           "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n",
       }) {
    EXPECT_EQ(refusal(request), Reason::BadRequest) << request;
  }
}

TEST(MessageParser, bounds_heads_bodies_and_the_lines_between_chunks) {
  const MessageLimits limits{.header_bytes = 200, .body_bytes = 10};
  EXPECT_EQ(refusal("GET / HTTP/1.1\r\nA: " + std::string(300, 'a') + "\r\n\r\n", limits), Reason::RequestEntityTooLarge);
  EXPECT_EQ(refusal("POST / HTTP/1.1\r\nContent-Length: 11\r\n\r\n", limits), Reason::RequestEntityTooLarge);
  EXPECT_EQ(refusal("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n6\r\naaaaaa\r\n6\r\naaaaaa\r\n0\r\n\r\n", limits),
            Reason::RequestEntityTooLarge);
  EXPECT_TRUE(refusal("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1;" + std::string(4000, 'x'), limits));
}

TEST(MessageParser, leaves_what_follows_a_message) {
  MessageParser parser = MessageParser::request({});
  std::string input =
      "POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nTrailer: t\r\n\r\nGET /b";
  ASSERT_TRUE(parser.feed(input));
  EXPECT_TRUE(parser.is_done());
  EXPECT_EQ(parser.take_body(), "abcde");
  EXPECT_EQ(input, "GET /b");
  EXPECT_FALSE(parser.head().headers.contains("Trailer"));
}

TEST(MessageParser, reads_answers_that_end_with_the_connection) {
  MessageParser parser = MessageParser::response({}, false);
  std::string input = "HTTP/1.1 200 OK\r\n\r\nabc";
  ASSERT_TRUE(parser.feed(input));
  EXPECT_FALSE(parser.is_done());
  EXPECT_TRUE(parser.finish());
  EXPECT_EQ(parser.take_body(), "abc");
  MessageParser cut = MessageParser::response({}, false);
  input = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc";
  ASSERT_TRUE(cut.feed(input));
  EXPECT_FALSE(cut.finish());
}

}  // namespace
}  // namespace slipway::net
