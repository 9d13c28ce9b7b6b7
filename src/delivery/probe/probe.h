// Fetches what a gate judges: asks webhooks, metric providers, Jobs. ask() is one question at one gate: it makes at most one
// request of what it asks (and one each for the baseline and a token), never waits for a later one, and says when it is to be
// asked again. What it needs to remember between two questions (samples of a metric) the caller keeps. It may die at any point:
// webhooks get the same Idempotency-Key again, a Job's name follows from the key, and a sample that was lost is taken anew.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/env.h"
#include "base/http_client.h"
#include "client/client.h"
#include "delivery/gate/gate.h"
#include "delivery/gate/metric.h"

namespace slipway::delivery::probe {

/// Whoever holds the gate, and when it is asked.
struct Question {
  gate::GateSpec gate{};
  std::string key{};   // the same for each try of one question: sent as Idempotency-Key
  std::string name{};  // of the object that holds the gate: sent in webhook bodies
  std::string ns{};
  std::string phase{};  // likewise: "rollingInBatches", "batchInitializing"
  std::map<std::string, std::string>
      variables{};  // for queries: target, service, ingress …; name, namespace and interval are known
  std::map<std::string, std::string> baseline_variables{};  // what differs of them in baselineQuery
  json::Value owner{};                                      // owner reference for a Job; may be null
  Time since{};                                             // first asked
  Time data_since{};                                        // numbers from before are no data
  std::int64_t tries = 0;                                   // questions before this one
  std::vector<gate::Sample> samples{};                      // of a metric, oldest first
};

struct Answer {
  gate::Verdict verdict;
  std::vector<gate::Sample> samples{};   // of a metric: all so far, those of the question first
  std::optional<std::int64_t> status{};  // of a webhook's answer, for the log
  std::optional<Duration> ask_again{};   // nullopt: it is decided (asked again all the same, it answers the same)
};

/// Where what is asked is reached. `client` reads Secrets and templates and runs Jobs; `http` may be null (an error says so).
struct Reach {
  Env& env;
  client::Client& client;
  HttpClient* http = nullptr;
};

/// Approvals and windows are not asked here: gate/approval.h and gate/window.h decide them from what is known.
Task<Answer> ask(Reach reach, Question question);

}  // namespace slipway::delivery::probe
