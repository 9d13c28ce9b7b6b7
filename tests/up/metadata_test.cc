// What a controller on another machine pays for following a big cluster: a metadata-only cache over HTTP of every ConfigMap of
// a second `slipway up`. The short form (4,000 objects) runs with `make test`, the full one (400,000) with `make test-load`.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "client/informer.h"
#include "remote/remote_client.h"
#include "up_process.h"

namespace slipway::up {
namespace {

/// Bytes of memory a cached object may cost its controller.
constexpr std::size_t kMaxBytesPerObject = 1024;

std::size_t resident_bytes() {
  malloc_trim(0);
  std::ifstream statm("/proc/self/statm");
  std::size_t all = 0;
  std::size_t resident = 0;
  statm >> all >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

Task<> create_some(User& user, std::size_t from, std::size_t to) {
  for (std::size_t i = from; i < to; ++i) {
    const auto answer = co_await user.client().send(user.create(fmt::format("config-{}", i), 100));
    EXPECT_TRUE(answer && answer->status == 201) << (answer ? answer->body : answer.error().message);
    if (!answer) co_return;
  }
}

Task<> create_all(User& user, std::size_t count) {
  constexpr std::size_t kWriters = 32;
  Tasks writers(user.env());
  for (std::size_t i = 0; i < kWriters; ++i) {
    writers.spawn(create_some(user, count * i / kWriters, count * (i + 1) / kWriters));
  }
  co_await writers.join();
}

/// Follows the metadata of all ConfigMaps and compares what that costs.
Task<> follow(User& user, remote::Connection connection, std::size_t count) {
  Env& env = user.env();
  remote::RemoteClient far(env, connection, {}, remote::RemoteClient::over_sockets(env, connection));
  client::Informer cache(env, far, {"", "v1", "configmaps"}, {.form = client::Form::Metadata});
  const std::size_t before = resident_bytes();
  Tasks tasks(env);
  tasks.spawn(cache.run());
  co_await cache.wait_synced();
  const std::size_t grown = resident_bytes() - std::min(before, resident_bytes());
  EXPECT_GE(cache.size(), count);
  EXPECT_FALSE((*cache.objects().begin()).second.has("data"));
  fmt::print("load: {} objects, {} bytes of memory each\n", cache.size(), grown / cache.size());
  if (is_full()) EXPECT_LE(grown / cache.size(), kMaxBytesPerObject);
  cache.stop();
  co_await tasks.join();
}

TEST(MetadataCache, holds_the_objects_of_another_server_in_little_memory) {
  const std::size_t count = is_full() ? 400'000 : 4'000;
  std::string folder = testing::TempDir() + "slipway-meta-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  {
    UpProcess server(binary(), folder);
    {
      User writer(server.access(), 32);
      writer.run([&](User& user) { return create_all(user, count); });
    }
    User reader(server.access(), 2);
    const auto text = reader.env().files.read(folder + "/kubeconfig");
    ASSERT_TRUE(text) << text.error().message;
    const auto connection = remote::read_kubeconfig(reader.env().files, *text, folder, "");
    ASSERT_TRUE(connection) << connection.error().message;
    reader.run([&](User& user) { return follow(user, *connection, count); });
  }
  std::filesystem::remove_all(folder);
  std::filesystem::remove(folder + ".log");
}

}  // namespace
}  // namespace slipway::up
