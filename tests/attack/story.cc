#include "story.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "base/digest.h"
#include "json/text.h"

namespace slipway::attack {
namespace {

using namespace std::chrono_literals;

/// Longer than anything that is waited for; ends only a story that does not hold.
constexpr Duration kLimit = 15s;
/// How long an attack that was taken up has for more than it has done.
constexpr Duration kAfter = 300ms;

Value read(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  auto value = json::parse_yaml(text.str());
  if (!value) ADD_FAILURE() << path << ": " << value.error().message;
  return value ? *value : Value();
}

std::string folder() { return SLIPWAY_SOURCE_DIR "/tests/attack/stories/"; }

/// With each ${NAME} replaced. Texts go into JSON: none of them holds quotes.
Value filled(const Value& value, const std::map<std::string, std::string>& variables) {
  std::string text = json::print(value);
  for (const auto& [name, with] : variables) {
    const std::string what = "${" + name + "}";
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
      text.replace(at, what.size(), with);
    }
  }
  auto parsed = json::parse(text);
  if (!parsed) ADD_FAILURE() << parsed.error().message << "\n" << text;
  return parsed ? *parsed : Value();
}

/// With each {repeat: …} unfolded, as story.h describes it.
Value unfolded(const Value& value) {
  if (value.is_array()) {
    json::ArrayBuilder items;
    for (const Value& item : value.items()) items.add(unfolded(item));
    return items.build();
  }
  if (!value.is_object()) return value;
  json::ObjectBuilder members;
  if (!value["repeat"].is_int()) {
    for (const auto& [key, member] : value.members()) members.set(key, unfolded(member));
    return members.build();
  }
  json::ArrayBuilder items;
  std::string text;
  for (std::int64_t k = 0; k < value["repeat"].as_int(); ++k) {
    const Value one = filled(value, {{"k", std::to_string(k)}, {"before", std::to_string(std::max<std::int64_t>(k - 1, 0))}});
    text += one["text"].as_string();
    if (one.has("key")) {
      members.set(one["key"].as_string(), one["of"]);
    } else {
      items.add(unfolded(one["of"]));
    }
  }
  if (value.has("text")) return Value(text);
  return value.has("key") ? members.build() : items.build();
}

Value yaml(const std::string& text) { return *json::parse_yaml(text); }

Value binding(const std::string& user, const std::string& ns, const std::string& kind, const std::string& role) {
  return yaml(
      fmt::format("{{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {{name: {0}, namespace: "
                  "{1}}}, roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: {2}, name: {3}}}, subjects: "
                  "[{{apiGroup: rbac.authorization.k8s.io, kind: User, name: {0}}}]}}",
                  user, ns, kind, role));
}

Value role(const std::string& name, const std::string& ns, const Value& rules) {
  return yaml(
      fmt::format("{{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {{name: {}, namespace: {}}}, "
                  "rules: {}}}",
                  name, ns, json::print(rules)));
}

Value secret(const std::string& name, const std::string& ns, const std::string& text) {
  return yaml(
      fmt::format("{{apiVersion: v1, kind: Secret, metadata: {{name: {}, namespace: {}}}, stringData: {{token: {}, "
                  "username: web, password: {}}}}}",
                  name, ns, text, text));
}

bool is_refusal(int status) { return status == 401 || status == 403; }

}  // namespace

Value read_stories(const std::string& family) { return read(folder() + family + ".yaml"); }
Value read_rows() { return read(folder() + "rows.yaml"); }

int next_play() {
  static int count = 0;
  return ++count;
}

Play::Play(World& world, const Value& file, const Value& story) : world_(world), file_(file), story_(story) {}

Task<> Play::play() {
  co_await play_control();
  const bool is_for_anyone = story_["anonymous"].is_string();
  if (!is_for_anyone) co_await play_anonymous();
  std::vector<std::string> users;
  for (const Value& user : story_["as"].items()) users.push_back(user.str());
  if (users.empty()) users.emplace_back("editor");
  for (const std::string& user : users) {
    co_await play_attacker(user);
    co_await scan();
    co_await leave();
  }
}

Task<> Play::leave() {
  for (const char* ns : {"team", "else", "other"}) {
    co_await world_.send("admin", "DELETE", "/api/v1/namespaces/" + variables_[ns]);
  }
}

Task<> Play::begin() {
  const Value story = co_await prepare();
  co_await attack(story, story["as"].items().empty() ? "editor" : story["as"].item(0).str());
}

Task<> Play::play_control() {
  const Value& control = story_["control"];
  if (control["none"].is_string()) co_return;
  Variables more;
  const Value set = filled(control["set"], {{"peer", world_.peer_address()}});
  for (const auto& [name, value] : set.members()) more[std::string(name)] = value.str();
  const Value story = co_await prepare(more);
  const Outcome outcome = co_await attack(story, control["as"].is_string() ? control["as"].str() : "admin");
  EXPECT_TRUE(co_await until(story["prize"], outcome, kLimit)) << "the control does not get through: " << told();
  co_await leave();
}

Task<> Play::play_anonymous() {
  const Value story = co_await prepare();
  const Outcome outcome = co_await attack(story, "anonymous");
  EXPECT_TRUE(outcome.all_refused) << "anonymous: " << outcome.last.status << " " << outcome.last.body;
  co_await leave();
}

Task<> Play::play_attacker(const std::string& user) {
  const Value story = co_await prepare();
  const Outcome outcome = co_await attack(story, user);
  if (story["held"].items().empty()) {
    EXPECT_TRUE(outcome.is_refused) << user << ": no step was refused: " << outcome.last.status << " " << outcome.last.body;
  } else {
    EXPECT_TRUE(co_await until(story["held"], outcome, kLimit)) << user << " was not held: " << told();
  }
  if (story["then"].has("objects")) co_await play_neighbour(story["then"]);
  if (story["prize"].items().empty()) co_return;
  co_await sleep_for(world_.env(), kAfter);
  EXPECT_FALSE(co_await until(story["prize"], outcome, 0s)) << user << " gets through";
}

Task<> Play::make_neighbour(const Value& neighbour) {
  co_await prepare();
  for (const Value& object : filled(neighbour["objects"], variables_).items()) {
    const Answer made = co_await take(object, "neighbour");
    EXPECT_EQ(made.status, 201) << made.body;
  }
}

Task<bool> Play::is_neighbour_done(const Value& neighbour) {
  const Value looks = filled(neighbour["end"], variables_);
  co_return co_await until(looks, {}, 0s);
}

Task<> Play::play_neighbour(const Value& then) {
  for (const Value& object : then["objects"].items()) {
    const Answer made = co_await take(object, "neighbour");
    EXPECT_EQ(made.status, 201) << made.body;
  }
  EXPECT_TRUE(co_await until(then["end"], {}, kLimit)) << "the neighbour does not reach its end: " << told();
}

Task<Value> Play::prepare(const Variables& more) {
  const std::string n = std::to_string(next_play());
  variables_ = {{"n", n},
                {"team", "team-" + n},
                {"else", "else-" + n},
                {"other", "other-" + n},
                {"own", "canary-own-" + n + "-words"},
                {"foreign", "canary-foreign-" + n + "-words"},
                {"peer", world_.peer_address()},
                {"victim", world_.victim().address()},
                {"place", "team-" + n},
                {"self", world_.own_address()}};
  for (const auto& [name, value] : more) variables_[name] = value;
  for (const Value& name : story_["repositories"].items()) {
    variables_["git-" + name.str()] = world_.make_repository(name.str() + "-" + n);
  }
  for (const char* ns : {"team", "else", "other"}) {
    co_await must(yaml("{apiVersion: v1, kind: Namespace, metadata: {name: " + variables_[ns] + "}}"));
  }
  const std::string& team = variables_["team"];
  for (const Value& object :
       {binding("editor", team, "ClusterRole", "edit"), binding("neighbour", variables_["other"], "ClusterRole", "edit"),
        role("verbs", team, file_["verbs"]), binding("twoverbs", team, "Role", "verbs"),
        role("packages", team,
             yaml("[{apiGroups: [porch.kpt.dev, config.porch.kpt.dev, packages.slipway.dev], resources: ['*'], verbs: "
                  "[get, list, watch, create, update, patch, delete]}]")),
        binding("owner", team, "Role", "packages"), secret("db", team, variables_["own"]),
        secret("prize", variables_["else"], variables_["foreign"])}) {
    co_await must(object);
  }
  const Value story = unfolded(filled(story_, variables_));
  for (const Value& object : story["world"].items()) co_await must(object);
  co_return story;
}

Task<> Play::must(const Value& object) {
  const Answer made = co_await take(object, "admin");
  EXPECT_TRUE(made.status == 200 || made.status == 201) << made.status << " " << made.body << "\n" << json::print(object);
  if (object["kind"].as_string() == "CustomResourceDefinition") co_await world_.discover();
}

Task<Play::Outcome> Play::attack(const Value& story, const std::string& user) {
  Outcome outcome;
  outcome.requests_before = {world_.peer().requests().size(), world_.victim().requests().size()};
  outcome.sent_before = world_.peer().sent_bytes();
  const std::int64_t times = story["times"].is_null() ? 1 : story["times"].as_int();
  for (std::int64_t i = 0; i < times; ++i) {
    for (const Value& one : story["attack"].items()) {
      const Value step = filled(one, {{"i", std::to_string(i)}});
      const std::string as = step["as"].is_string() && user != "anonymous" ? step["as"].str() : user;
      if (step["until"].is_array()) {
        if (user != "anonymous" && !co_await until(step["until"], outcome, kLimit)) {
          ADD_FAILURE() << user << ": the way to the attack does not open: " << told();
        }
        continue;
      }
      outcome.last = co_await take(step.without("as"), as);
      outcome.is_refused |= is_refusal(outcome.last.status) || outcome.last.status == 422 || outcome.last.status == 400;
      outcome.all_refused &= is_refusal(outcome.last.status);
    }
  }
  co_return outcome;
}

Task<Answer> Play::take(const Value& step, const std::string& user) {
  if (step.has("call")) {
    const Value& call = step["call"];
    http::Headers headers;
    for (const auto& [name, value] : call["headers"].members()) headers.add(std::string(name), value.str());
    const std::string body = call["body"].is_string() ? call["body"].str() : call.has("body") ? json::print(call["body"]) : "";
    co_return co_await world_.send(user, call["method"].str(), call["path"].str(), body, "application/json",
                                   std::move(headers));
  }
  if (step.has("patch")) {
    const std::string sub = step["sub"].is_string() ? "/" + step["sub"].str() : "";
    co_return co_await world_.send(user, "PATCH", path_of(step["patch"], false) + sub, json::print(step["with"]),
                                   "application/merge-patch+json");
  }
  if (step.has("delete")) co_return co_await world_.send(user, "DELETE", path_of(step["delete"], false));
  co_return co_await world_.send(user, "POST", path_of(step, true), json::print(step));
}

std::string Play::path_of(const Value& object, bool is_list) {
  const Served* kind = world_.find(object["apiVersion"].str(), object["kind"].str());
  if (kind == nullptr) {
    ADD_FAILURE() << "not served: " << json::print(object);
    return "/nothing";
  }
  const Value& meta = object["metadata"];
  std::string path = kind->root;
  const Value& ns = meta["namespace"].is_string() ? meta["namespace"] : object["namespace"];
  if (kind->is_namespaced) path += "/namespaces/" + (ns.is_string() ? ns.str() : variables_["team"]);
  path += "/" + kind->plural;
  if (is_list) return path;
  return path + "/" + (meta["name"].is_string() ? meta["name"].str() : object["name"].str());
}

Task<bool> Play::until(const Value& looks, const Outcome& outcome, Duration limit) {
  const Steady end = world_.env().clock.steady() + limit;
  while (true) {
    seen_.clear();
    bool all = true;
    for (const Value& look : looks.items()) all &= co_await holds(look, outcome);
    if (all) co_return true;
    if (world_.env().clock.steady() >= end) co_return false;
    co_await sleep_for(world_.env(), 25ms);
  }
}

Task<bool> Play::holds(const Value& look, const Outcome& outcome) {
  bool is_so = false;
  std::string text;
  if (look.has("of") || look.has("list")) {
    const bool is_list = look.has("list");
    const Answer got = co_await world_.send("admin", "GET", path_of(is_list ? look["list"] : look["of"], is_list));
    const Value object = json::parse(got.body, {.max_bytes = std::size_t{64} << 20}).value_or(Value());
    text = look["in"].is_string() ? json::print(object[look["in"].as_string()]) : json::print(object);
    if (look.has("is")) {
      is_so = (got.status == 200) == (look["is"].as_string() == "there");
    } else if (look.has("has")) {
      is_so = got.status == 200 && text.contains(look["has"].as_string());
    } else {
      is_so = got.status == 200 && !text.contains(look["lacks"].as_string());
    }
  } else if (look.has("hit")) {
    const Peer* peers[] = {&world_.peer(), &world_.victim()};
    for (int i = 0; i < 2; ++i) {
      const auto& all = peers[i]->requests();
      for (std::size_t at = outcome.requests_before[i]; at < all.size(); ++at)
        is_so |= all[at].contains(look["hit"].as_string());
    }
  } else if (look.has("sent_below")) {
    const std::uint64_t sent = world_.peer().sent_bytes() - outcome.sent_before;
    is_so = sent > 0 && sent < static_cast<std::uint64_t>(look["sent_below"].as_int());
    text = fmt::format("{} bytes", sent);
  } else if (look.has("status")) {
    is_so = outcome.last.status == look["status"].as_int();
    text = fmt::format("{} {}", outcome.last.status, outcome.last.body);
  } else if (look.has("said")) {
    is_so = outcome.last.body.contains(look["said"].as_string());
    text = outcome.last.body;
  }
  if (!is_so) seen_.push_back(json::print(look) + ": " + text.substr(0, 3000));
  co_return is_so;
}

std::string Play::told() {
  std::string text;
  for (const std::string& one : seen_) text += "\n  " + one;
  return text;
}

/// All objects but Secrets, events among them, the log, metrics, command lines and files.
Task<> Play::scan() {
  const auto look = [this](const std::string& where, const std::string& in) {
    for (const char* which : {"own", "foreign"}) {
      const std::string& text = variables_[which];
      const std::string coded = base64_encode(text).substr(0, text.size() / 3 * 4);
      EXPECT_FALSE(in.contains(text) || in.contains(coded)) << "text of Secret " << which << " is in " << where;
    }
  };
  look("the log", world_.log());
  look("/metrics", (co_await world_.send("admin", "GET", "/metrics")).body);
  look("the list of processes", world_.command_lines());
  for (const char* which : {"own", "foreign"}) {
    const std::vector<std::string> loose = world_.loose_files(variables_[which]);
    EXPECT_TRUE(loose.empty()) << "others may read " << loose.front();
  }
  for (const auto& [kind, served] : world_.served()) {
    if (!served.is_listed || kind.second == "Secret" || kind.second.ends_with("Review")) continue;
    const std::string path = served.root + "/" + served.plural;
    look(path, (co_await world_.send("admin", "GET", path)).body);
  }
}

Task<std::map<std::string, double>> play_neighbours(World& world, std::vector<std::string> families) {
  std::map<std::string, double> took;
  std::vector<std::unique_ptr<Value>> files;
  std::vector<std::unique_ptr<Play>> plays;
  const Value nothing = yaml("{repositories: [quiet]}");
  std::map<std::string, Steady> begun;
  for (const std::string& family : families) {
    files.push_back(std::make_unique<Value>(read_stories(family)));
    plays.push_back(std::make_unique<Play>(world, *files.back(), nothing));
    co_await plays.back()->make_neighbour((*files.back())["neighbour"]);
    begun[family] = world.env().clock.steady();
  }
  const Steady end = world.env().clock.steady() + 2min;
  while (took.size() < families.size() && world.env().clock.steady() < end) {
    for (std::size_t i = 0; i < families.size(); ++i) {
      if (took.contains(families[i]) || !co_await plays[i]->is_neighbour_done((*files[i])["neighbour"])) continue;
      took[families[i]] = std::chrono::duration<double>(world.env().clock.steady() - begun[families[i]]).count();
    }
    co_await sleep_for(world.env(), 10ms);
  }
  for (const std::string& family : families) took.try_emplace(family, 120);
  for (const auto& one : plays) co_await one->leave();
  co_return took;
}

}  // namespace slipway::attack
