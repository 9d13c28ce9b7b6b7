// The log is the same whatever becomes of the requests of its controller: refused, answered with a time-out before or after
// they have had their effect, or cut off by the end of the process.
#include "log_fixture.h"

namespace slipway::pipeline_log_test {
namespace {

using Lines = std::vector<std::string>;
using std::chrono::minutes;

enum class Fault : std::uint8_t { Refused, LostRequest, LostAnswer };

/// Strikes the `at`th write of the log's controller, once.
class Striking : public client::Client {
 public:
  Striking(client::Client& inner, Fault fault, int at) : inner_(inner), fault_(fault), at_(at) {}

  Task<Result<client::Reply>> call(client::Request request) override {
    const bool is_write =
        request.verb == client::Verb::Create || request.verb == client::Verb::Update || request.verb == client::Verb::Delete;
    if (!is_write || request.resource.plural != kDeliveryLogs.plural || ++writes != at_)
      co_return co_await inner_.call(request);
    if (fault_ == Fault::LostAnswer) static_cast<void>(co_await inner_.call(request));
    co_return fail(fault_ == Fault::Refused ? Reason::Conflict : Reason::Timeout, "struck");
  }
  Task<Result<std::unique_ptr<client::Watch>>> watch(client::Request request) override {
    return inner_.watch(std::move(request));
  }

  int writes = 0;

 private:
  client::Client& inner_;
  Fault fault_;
  int at_;
};

class Faults : public LogTest {
 protected:
  /// What is told after a little history, of which one write was struck.
  Lines story(Fault fault, int at, bool restarts) {
    restart_server();
    Striking struck(server(), fault, at);
    look_through(struck);
    make_pipeline();
    for (const char* version : {"1.0.0", "1.1.0", "1.0.0", "1.2.0"}) {
      write_status("prod", version);
      if (restarts) restart();
      advance(minutes{5});
    }
    remove(kPipelines, "podinfo");
    advance(minutes{5});
    Lines lines = told();
    close();
    path_ = fmt::format("/data/cluster-{}.db", ++stories_);
    env_ = std::make_unique<ManualEnv>(ManualEnv::Options{.vfs = disk_.vfs()});
    open();
    return lines;
  }

 private:
  int stories_ = 0;
};

const Lines kStory = {"observed prod 1.0.0", "observed prod 1.1.0", "departed prod 1.1.0",
                      "observed prod 1.0.0", "observed prod 1.2.0", "removed"};

TEST_F(Faults, a_struck_write_is_made_up_for) {
  for (const Fault fault : {Fault::Refused, Fault::LostRequest, Fault::LostAnswer}) {
    for (int at = 1; at <= 6; ++at) {
      EXPECT_EQ(story(fault, at, false), kStory) << static_cast<int>(fault) << " at " << at;
    }
  }
}

TEST_F(Faults, a_process_that_ends_after_each_change_is_made_up_for) { EXPECT_EQ(story(Fault::LostAnswer, 1, true), kStory); }

}  // namespace
}  // namespace slipway::pipeline_log_test
