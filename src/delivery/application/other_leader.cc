#include "delivery/application/other_leader.h"

#include "delivery/application/taking_over.h"

namespace slipway::delivery::application {

Task<Result<std::string>> OtherLeader::who(client::Client& client) {
  const Steady now = env_.clock.steady();
  if (asked_ && now - *asked_ < kPause) co_return found_;
  SLIPWAY_CO_TRY(found, co_await kubevela_leader(client, env_.clock.now()));
  asked_ = now;
  if (found == found_) co_return found_;
  const bool is_news = found.empty() != found_.empty();
  found_ = found;
  if (is_news && found.empty()) env_.log.info("KubeVela's controller has gone: applications are taken over");
  if (is_news && !found.empty()) {
    env_.log.warn("KubeVela's controller still runs: nothing is written about applications until it has ended",
                  {{"leader", found}});
  }
  co_return found;
}

}  // namespace slipway::delivery::application
