#include "delivery/probe/probe.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/compute_pool.h"
#include "control/author_right.h"
#include "delivery/probe/measure.h"
#include "delivery/probe/secret.h"
#include "delivery/probe/webhook.h"

namespace slipway::delivery::probe {
namespace {

using gate::Sample;
using gate::Verdict;

constexpr Duration kErrorRetry = std::chrono::seconds{10};
constexpr Duration kJobLook = std::chrono::seconds{2};

std::int64_t measured_so_far(const std::vector<Sample>& samples) {
  std::int64_t count = 0;
  for (const Sample& sample : samples) count += sample.count;
  return count;
}

gate::Length length_of(const gate::GateSpec& spec) {
  return spec.at == "throughout" ? gate::Length::Endless : gate::Length::AtCount;
}

/// When the next measurement is due.
Time due(const Question& question) {
  const gate::MetricGate& metric = *question.gate.metric;
  if (question.samples.empty()) return question.since + metric.initial_delay;
  const Sample& last = question.samples.back();
  const bool is_early = last.phase == Sample::Phase::Error || last.phase == Sample::Phase::NoData;
  return last.at + (is_early ? std::min(metric.interval, kErrorRetry) : metric.interval);
}

/// What the samples so far say, and when to ask again.
Answer judged(const Question& question, std::vector<Sample> samples, Time now) {
  Answer answer{.verdict = gate::assess(*question.gate.metric, samples, length_of(question.gate))};
  const gate::Tally counts = gate::tally(samples);
  const bool is_inconclusive = counts.inconclusive > question.gate.metric->inconclusive_limit;
  const bool is_decided =
      answer.verdict.kind == Verdict::Kind::Pass || answer.verdict.kind == Verdict::Kind::Fail || is_inconclusive;
  if (!is_decided) {
    Question next = question;
    next.samples = samples;
    answer.ask_again = std::max<Duration>(due(next) - now, Duration::zero());
  }
  answer.samples = std::move(samples);
  return answer;
}

Task<Answer> ask_metric(Reach reach, Question question) {
  const gate::MetricGate& metric = *question.gate.metric;
  const Time now = reach.env.clock.now();
  Answer known = judged(question, question.samples, now);
  if (!known.ask_again || due(question) > now) co_return known;
  const bool is_job = !metric.template_ref && metric.provider == "job";
  auto measured =
      is_job ? co_await measure_by_job(reach, question, measured_so_far(question.samples)) : co_await measure(reach, question);
  const Time then = reach.env.clock.now();
  if (measured && measured->is_running) {
    known.verdict = {Verdict::Kind::Wait, "the Job has not ended", ""};
    known.ask_again = kJobLook;
    co_return known;
  }
  // The API server refused what is read as the author. A right may come back: that is no sample.
  const bool lacks_right = !measured && measured.error().reason == Reason::Forbidden && !measured.error().kind.empty();
  if (lacks_right) {
    known.verdict = {Verdict::Kind::Unknown,
                     fmt::format("{}: {}", control::kAuthorLacksRight, shortened(measured.error().message, 250)), ""};
    known.ask_again = control::kAuthorRightPause;
    co_return known;
  }
  Sample sample{.at = then, .phase = Sample::Phase::Error, .text = measured ? "" : shortened(measured.error().message, 250)};
  if (measured) {
    co_await compute_for(reach.env, question.ns,
                         [&] { sample = gate::judge(metric, measured->measured, then, question.data_since); });
  }
  std::vector<Sample> samples = question.samples;
  gate::add(samples, std::move(sample));
  co_return judged(question, std::move(samples), then);
}

}  // namespace

Task<Answer> ask(Reach reach, Question question) {
  if (question.gate.webhook) co_return co_await ask_webhook(reach, std::move(question));
  if (question.gate.metric) co_return co_await ask_metric(reach, std::move(question));
  co_return Answer{.verdict = {Verdict::Kind::Unknown, "approvals and windows are decided by delivery/gate", ""}};
}

}  // namespace slipway::delivery::probe
