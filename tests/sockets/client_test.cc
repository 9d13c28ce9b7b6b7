// The HTTP client over real sockets: kept connections, proxies, time-outs, TLS and client certificates.
#include "net/client.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdlib>
#include <fstream>

#include "base/address_policy.h"
#include "server_fixture.h"

namespace slipway::net {
namespace {

/// An authority with the certificates of a server and of a user.
struct Identities {
  explicit Identities(Time now)
      : authority(make_authority("slipway-ca", now)),
        server(*issue(authority, {.common_name = "kubernetes", .names = server_names({}), .now = now})),
        admin(*issue(authority, {.common_name = "admin",
                                 .organizations = {"system:masters", "dev"},
                                 .use = CertificateRequest::Use::client,
                                 .now = now})) {}

  TlsContext server_context() const {
    return *TlsContext::server({.certificate_pem = server.certificate_pem,
                                .key_pem = server.key_pem,
                                .client_authority_pem = authority.certificate_pem});
  }
  ClientOptions client_options() const { return {.tls = {.authority_pem = authority.certificate_pem}}; }

  KeyPair authority;
  KeyPair server;
  KeyPair admin;
};

/// "CN O… verified", of the client's certificate.
Task<Answer> who(http::Request, std::shared_ptr<const ConnectionInfo> info) {
  http::Response response;
  response.body = info->certificate.common_name;
  for (const auto& organization : info->certificate.organizations) response.body += " " + organization;
  response.body += info->certificate.is_verified ? " verified" : " unverified";
  co_return response;
}

TEST(Client, keeps_a_connection_and_replaces_a_dead_one) {
  World world;
  world.run({.limits = {.connections = 1}}, echo, [&]() -> Task<> {
    const auto client = world.client();
    for (int i = 0; i < 3; ++i) {
      HttpCall call = get(world.url("/x?y=1"));
      call.method = "POST";
      call.body = "body";
      const auto answer = co_await client->send(call);
      CO_ASSERT(answer.has_value());
      EXPECT_EQ(answer->status, 200);
      EXPECT_EQ(answer->body, "POST /x?y=1 body");
    }
    EXPECT_EQ(client->connections_made(), 1U);
    const auto is_idle = [&] { return world.server().idle_connections() == 1; };
    co_await world.until(is_idle);
    const auto other = co_await world.connect();  // in the place of the client's
    co_await other->write("GET /a HTTP/1.1\r\nHost: x\r\n\r\n", kBroken);
    co_await read_until(other, "GET /a ");
    co_await world.until(is_idle);
    EXPECT_TRUE((co_await client->send(get(world.url("/")))).has_value());
    EXPECT_EQ(client->connections_made(), 2U);
  });
}

TEST(Client, calls_only_addresses_that_its_policy_allows) {
  World world;
  world.run({}, echo, [&]() -> Task<> {
    AddressPolicy policy;
    const auto client = world.client({.addresses = &policy});
    const std::string port = std::to_string(world.server().port());
    for (const char* host : {"127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0.0.0.0"}) {
      const auto answer = co_await client->send(get(fmt::format("http://{}:{}/", host, port)));
      CO_ASSERT(!answer.has_value());
      EXPECT_EQ(answer.error().reason, Reason::Forbidden) << host << ": " << answer.error().message;
    }
    EXPECT_EQ(client->connections_made(), 0U);
    CO_ASSERT(policy.allow("127.0.0.1:" + port).has_value());
    EXPECT_TRUE((co_await client->send(get(world.url("/")))).has_value());
  });
}

TEST(Client, closes_a_kept_connection_that_nobody_asks_for) {
  World world;
  world.run({}, echo, [&]() -> Task<> {
    const auto client = world.client({.idle_timeout = 20ms});
    EXPECT_TRUE((co_await client->send(get(world.url("/")))).has_value());
    EXPECT_EQ(client->idle_connections(), 1U);
    co_await world.until([&] { return client->idle_connections() == 0; });
    EXPECT_TRUE((co_await client->send(get(world.url("/")))).has_value());
    EXPECT_EQ(client->connections_made(), 2U);
  });
}

TEST(Client, carries_large_bodies_both_ways) {
  World world;
  world.run({.tls = Identities(world.env().clock.now()).server_context()}, echo, [&]() -> Task<> {
    const auto client = world.client({.tls = {.is_insecure = true}});
    HttpCall call = get(world.url("/"));
    call.method = "PUT";
    call.body = std::string(3 * 1024 * 1024, 'x');
    const auto answer = co_await client->send(call);
    CO_ASSERT(answer.has_value());
    EXPECT_EQ(answer->body.size(), call.body.size() + 6);
    const auto narrow = world.client({.tls = {.is_insecure = true}, .message = {.body_bytes = 1000}});
    const auto refused = co_await narrow->send(call);
    CO_ASSERT(!refused.has_value());
    EXPECT_EQ(refused.error().reason, Reason::RequestEntityTooLarge);
  });
}

TEST(Client, takes_no_more_of_an_answer_than_its_caller_wants) {
  World world;
  std::uint64_t sent = 0;
  constexpr std::size_t kPiece = 64 * 1024;
  /// Never ends.
  class Flood : public http::BodyStream {
   public:
    explicit Flood(std::uint64_t& sent) : sent_(sent) {}
    Task<Result<std::optional<std::string>>> next() override {
      if (is_closed_) co_return std::nullopt;
      sent_ += kPiece;
      co_return std::string(kPiece, 'x');
    }
    void close() override { is_closed_ = true; }

   private:
    std::uint64_t& sent_;
    bool is_closed_ = false;
  };
  const auto flood = [&](http::Request request, std::shared_ptr<const ConnectionInfo>) -> Task<Answer> {
    http::Response response;
    if (request.target == "/whole") {
      response.body = std::string(2 * 1024 * 1024, 'x');
    } else {
      response.stream = std::make_unique<Flood>(sent);
    }
    co_return response;
  };
  world.run({}, flood, [&]() -> Task<> {
    const auto client = world.client();
    for (const char* path : {"/whole", "/stream"}) {
      HttpCall call = get(world.url(path));
      call.max_answer_bytes = kMaxStepAnswer;
      const auto refused = co_await client->send(call);
      CO_ASSERT(!refused.has_value());
      EXPECT_EQ(refused.error().reason, Reason::RequestEntityTooLarge);
      EXPECT_EQ(refused.error().message, "the answer is larger than 1048576 bytes");
    }
    EXPECT_LT(sent, 16 * kMaxStepAnswer) << "what sockets hold, and no more";
    HttpCall call = get(world.url("/whole"));
    call.max_answer_bytes = 2 * 1024 * 1024;
    EXPECT_TRUE((co_await client->send(call)).has_value());
  });
}

TEST(Client, sends_nothing_for_a_call_that_could_be_two) {
  World world;
  int asked = 0;
  const auto count = [&](http::Request request, std::shared_ptr<const ConnectionInfo> info) -> Task<Answer> {
    ++asked;
    co_return co_await echo(std::move(request), std::move(info));
  };
  world.run({}, count, [&]() -> Task<> {
    const auto client = world.client();
    HttpCall split = get(world.url("/"));
    split.method = "GET /inj HTTP/1.1\r\nHost: a\r\nX-Inj: 1\r\n\r\nGET";
    const auto refused = co_await client->send(split);
    EXPECT_TRUE(!refused && refused.error().reason == Reason::BadRequest);
    HttpCall header = get(world.url("/"));
    header.headers.add("X-A", "b\r\nX-Inj: 1");
    EXPECT_FALSE((co_await client->send(header)).has_value());
    EXPECT_FALSE((co_await client->open_websocket(header, {})).has_value());
    EXPECT_EQ(asked, 0);
    HttpCall line = get(world.url("/"));
    line.headers.add("Authorization", "Bearer token\n");
    EXPECT_TRUE((co_await client->send(line)).has_value()) << "a Secret's last line end does not matter";
  });
}

TEST(Client, names_what_went_wrong) {
  World world;
  Signal go(world.env());
  bool may_answer = false;
  const auto silent = [&](http::Request, std::shared_ptr<const ConnectionInfo>) -> Task<Answer> {
    while (!may_answer) co_await go.wait();
    co_return http::Response{};
  };
  world.run({}, silent, [&]() -> Task<> {
    const auto client = world.client();
    HttpCall call = get(world.url("/"));
    call.timeout = 20ms;
    const auto late = co_await client->send(call);
    EXPECT_TRUE(!late && late.error().reason == Reason::Timeout);
    may_answer = true;
    go.notify();
    const auto closed = Listener::open(world.env(), "127.0.0.1", 0);
    CO_ASSERT(closed.has_value());
    const unsigned short port = closed->port();
    const_cast<Listener&>(*closed).close();
    const auto refused = co_await client->send(get("http://127.0.0.1:" + std::to_string(port) + "/"));
    EXPECT_TRUE(!refused && refused.error().reason == Reason::ServiceUnavailable);
    const auto malformed = co_await client->send(get("ftp://x"));
    EXPECT_TRUE(!malformed && malformed.error().reason == Reason::BadRequest);
  });
}

TEST(Client, waits_for_a_connection_when_all_are_in_use) {
  World world;
  int at_once = 0;
  int most = 0;
  const auto handler = [&](http::Request request, std::shared_ptr<const ConnectionInfo> info) -> Task<Answer> {
    most = std::max(most, ++at_once);
    co_await yield(world.env());
    --at_once;
    co_return co_await echo(std::move(request), std::move(info));
  };
  world.run({}, handler, [&]() -> Task<> {
    const auto client = world.client({.connections = 3});
    Tasks tasks(world.env());
    int answered = 0;
    for (int i = 0; i < 20; ++i) {
      tasks.spawn([](Client& through, std::string url, int& count) -> Task<> {
        count += (co_await through.send(get(url))).has_value() ? 1 : 0;
      }(*client, world.url("/"), answered));
    }
    co_await tasks.join();
    EXPECT_EQ(answered, 20);
    EXPECT_LE(most, 3);
    EXPECT_LE(client->connections_made(), 3U);
  });
}

TEST(Tls, tells_the_user_and_groups_of_a_client_certificate) {
  World world;
  const Identities identities(world.env().clock.now());
  world.run({.tls = identities.server_context()}, who, [&]() -> Task<> {
    ClientOptions options = identities.client_options();
    const auto anonymous = co_await world.client(options)->send(get(world.url("/", "localhost")));
    CO_ASSERT(anonymous.has_value());
    EXPECT_EQ(anonymous->body, " unverified");
    options.tls.certificate_pem = identities.admin.certificate_pem;
    options.tls.key_pem = identities.admin.key_pem;
    const auto admin = co_await world.client(options)->send(get(world.url("/")));
    CO_ASSERT(admin.has_value());
    EXPECT_EQ(admin->body, "admin system:masters dev verified");
  });
}

TEST(Tls, a_certificate_of_strangers_or_of_the_wrong_use_is_seen_but_not_believed) {
  World world;
  const Time now = world.env().clock.now();
  const Identities identities(now);
  const Identities strangers(now);
  const auto expired = issue(identities.authority,
                             {.common_name = "old", .use = CertificateRequest::Use::client, .now = now - 48h, .validity = 1h});
  ASSERT_TRUE(expired);
  world.run({.tls = identities.server_context()}, who, [&]() -> Task<> {
    for (const KeyPair& shown : {strangers.admin, identities.server, *expired}) {
      ClientOptions options = identities.client_options();
      options.tls.certificate_pem = shown.certificate_pem;
      options.tls.key_pem = shown.key_pem;
      const auto answer = co_await world.client(options)->send(get(world.url("/")));
      CO_ASSERT(answer.has_value());
      EXPECT_TRUE(answer->body.ends_with(" unverified")) << answer->body;
      EXPECT_FALSE(answer->body.starts_with(" "));
    }
  });
}

TEST(Tls, a_server_that_is_not_believed_is_told_nothing) {
  World world;
  const Time now = world.env().clock.now();
  const Identities identities(now);
  world.run({.tls = identities.server_context()}, who, [&]() -> Task<> {
    const auto foreign = co_await world.client(Identities(now).client_options())->send(get(world.url("/")));
    EXPECT_TRUE(!foreign && foreign.error().reason == Reason::Unauthorized);
    ClientOptions misnamed = identities.client_options();
    misnamed.tls.server_name = "other.example";
    const auto wrong = co_await world.client(misnamed)->send(get(world.url("/")));
    EXPECT_TRUE(!wrong && wrong.error().reason == Reason::Unauthorized);
    const auto insecure = co_await world.client({.tls = {.is_insecure = true}})->send(get(world.url("/")));
    EXPECT_TRUE(insecure.has_value());
  });
}

TEST(Tls, the_system_is_asked_whom_it_trusts_when_the_first_session_is_made) {
  World world;
  const Identities identities(world.env().clock.now());
  const std::string path = testing::TempDir() + "trusted.pem";
  std::ofstream(path) << identities.authority.certificate_pem;
  world.run({.tls = identities.server_context()}, who, [&]() -> Task<> {
    const auto early = world.client();
    const auto refused = co_await early->send(get(world.url("/")));
    EXPECT_TRUE(!refused && refused.error().reason == Reason::Unauthorized);
    const auto late = world.client();
    setenv("SSL_CERT_FILE", path.c_str(), 1);
    const auto answer = co_await late->send(get(world.url("/")));
    EXPECT_TRUE(answer.has_value());
    unsetenv("SSL_CERT_FILE");
    EXPECT_FALSE((co_await early->send(get(world.url("/")))).has_value());
  });
}

TEST(Tls, a_handshake_that_never_comes_is_cut) {
  World world;
  world.run({.tls = Identities(world.env().clock.now()).server_context(), .limits = {.header_timeout = 30ms}}, who,
            [&]() -> Task<> {
              const auto stream = co_await world.connect();
              EXPECT_EQ(co_await read_to_end(stream), "");
              const auto lost = co_await world.connect();
              co_await lost->write("GET / HTTP/1.1\r\nHost: x\r\n\r\n", kBroken);
              co_await read_to_end(lost);
            });
}

/// A proxy for one CONNECT: joins the client to the server after "Proxy-Authorization" was right.
Task<> proxy_once(Env& env, Listener& listener, std::string& seen) {
  const auto client = co_await listener.accept();
  CO_ASSERT(client.has_value());
  seen = co_await read_until(*client, "\r\n\r\n");
  const auto host = seen.find(' ') + 1;
  const std::string authority = seen.substr(host, seen.find(' ', host) - host);
  const auto colon = authority.rfind(':');
  const auto server = co_await Stream::connect(env, authority.substr(0, colon), authority.substr(colon + 1), std::nullopt);
  CO_ASSERT(server.has_value());
  co_await (*client)->write("HTTP/1.1 200 Connection established\r\n\r\n", kBroken);
  const auto relay = [](std::shared_ptr<Stream> from, std::shared_ptr<Stream> to) -> Task<> {
    while (true) {
      std::string bytes;
      const auto got = co_await from->read(bytes, 1000, std::nullopt);
      if (!got || *got == 0) break;
      if (!(co_await to->write(std::move(bytes), kBroken)).has_value()) break;
    }
    to->finish_writing();
  };
  Tasks tasks(env);
  tasks.spawn(relay(*client, *server));
  tasks.spawn(relay(*server, *client));
  co_await tasks.join();
}

TEST(Client, reaches_a_tls_server_through_a_proxy) {
  World world;
  const Identities identities(world.env().clock.now());
  auto listener = Listener::open(world.env(), "127.0.0.1", 0);
  ASSERT_TRUE(listener);
  world.run({.tls = identities.server_context()}, echo, [&]() -> Task<> {
    std::string seen;
    Tasks tasks(world.env());
    tasks.spawn(proxy_once(world.env(), *listener, seen));
    ClientOptions options = identities.client_options();
    options.proxy_url = "http://user:pass@127.0.0.1:" + std::to_string(listener->port());
    const auto client = world.client(options);
    const auto answer = co_await client->send(get(world.url("/x", "localhost")));
    EXPECT_TRUE(answer && answer->body == "GET /x ");
    EXPECT_TRUE(seen.starts_with("CONNECT localhost:") && seen.contains("Proxy-Authorization: Basic dXNlcjpwYXNz\r\n")) << seen;
    client->close_idle();
    co_await tasks.join();
  });
}

TEST(Tls, an_idle_connection_costs_little_memory) {
  World world;
  const Identities identities(world.env().clock.now());
  auto context = TlsContext::client({.authority_pem = identities.authority.certificate_pem});
  ASSERT_TRUE(context);
  world.run({.tls = identities.server_context()}, echo, [&]() -> Task<> {
    constexpr int kConnections = 400;
    std::vector<std::shared_ptr<Stream>> streams;
    const auto open = [&]() -> Task<> {
      auto stream = co_await world.connect();
      EXPECT_TRUE((co_await stream->start_tls(*context, "127.0.0.1", std::nullopt)).has_value());
      co_await stream->write("GET /a HTTP/1.1\r\nHost: x\r\n\r\n", kBroken);
      co_await read_until(stream, "GET /a ");
      streams.push_back(std::move(stream));
    };
    co_await open();
    const std::size_t before = mallinfo2().uordblks;
    for (int i = 0; i < kConnections; ++i) co_await open();
    co_await world.until([&] { return world.server().idle_connections() == kConnections + 1; });
    const std::size_t both = (mallinfo2().uordblks - before) / kConnections;
    testing::Test::RecordProperty("bytes_per_idle_tls_connection_both_sides", static_cast<int>(both));
    fmt::print("bytes of heap per idle TLS connection, both sides: {}\n", both);
    EXPECT_LT(both, 100'000U);
  });
}

}  // namespace
}  // namespace slipway::net
