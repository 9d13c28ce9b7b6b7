// Plays one story of stories/FAMILY.yaml three times, each in new namespaces:
//
//   1. The control, with enough rights, succeeds, which proves that the attack works.
//   2. An anonymous caller is refused at every request.
//   3. Each attacker fails, although the server processed the objects (`held`).
//
// Then nothing that others may read contains the text of a Secret. The keys of a story:
//
//   name: what is tried
//   "off": why                it is not played yet
//   long_turns: why           turns of the logic thread are printed only
//   as: [editor]              attackers, one after the other: editor (of namespace ${team}), twoverbs (what `verbs` of the file
//                             allows there), owner (of a repository: the kinds of packages), neighbour (editor of ${other})
//   world: [OBJECT…]          created by an administrator before
//   attack: [STEP…]           OBJECT (is created), {patch: OBJECT, sub: status, with: {…}}, {delete: OBJECT}, or
//                             {call: {method, path, body, headers}}
//   times: 20                 how often the attack is made, with ${i} counting
//   held: [LOOK…]             signs that the attack was looked at and ended; without them a step must be refused
//   prize: [LOOK…]            what an attacker wants; holds for the control, and never for attackers
//   control: {as: admin, set: {victim: ${peer}}} or {none: why it has none}
//   then: {objects: [OBJECT…], end: [LOOK…]}   of the neighbour, made while the attack is under way; reaches its end
//   anonymous: why            (2) is left out
//   repositories: [NAME]      git repositories, ${git-NAME}
//
// What is long is written once: {repeat: 800, of: {name: "s${k}"}} is a list with ${k} from 0 and ${before} one less (0 for the
// first), {repeat: 800, key: "a${k}", of: 1} an object, {repeat: 800, text: "a."} a text.
//
// A STEP may also be {…, as: USER}, or {until: [LOOK…]}.
//
// Variables: ${n} the number of the play; namespaces ${team} of the attacker, ${other} of the neighbour, and ${else}, in which
// no attacker has rights; ${own} and ${foreign} the texts of Secret db in ${team} and of Secret prize in ${else}; ${peer},
// ${victim} and ${self} HOST:PORT of the peer, of the victim and of the server; ${place} is ${team} unless the control sets it.
//
// LOOK: {of: OBJECT, in: status, has|lacks: TEXT}, {of: OBJECT, is: there|absent}, {list: OBJECT, has|lacks: TEXT},
// {hit: TEXT} (a request that the peer or the victim got), {sent_below: BYTES} (by the peer), {status: CODE}, {said: TEXT} (of
// the last step).
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "world.h"

namespace slipway::attack {

/// stories/FAMILY.yaml.
Value read_stories(const std::string& family);
/// stories/rows.yaml: the kinds of attacks.
Value read_rows();

class Play {
 public:
  Play(World& world, const Value& file, const Value& story);

  /// All three, and the scan for texts of Secrets.
  Task<> play();
  /// Only the attack, by the first attacker, and nothing is looked at.
  Task<> begin();
  /// Deletes the namespaces of the last play: what is under way ends with them.
  Task<> leave();
  /// `neighbour` of a family's file: what it has made has reached its end.
  Task<> make_neighbour(const Value& neighbour);
  Task<bool> is_neighbour_done(const Value& neighbour);

 private:
  using Variables = std::map<std::string, std::string>;
  struct Outcome {
    bool is_refused = false;  // some step
    bool all_refused = true;
    Answer last;
    std::array<std::size_t, 2> requests_before{};  // to the peer and to the victim
    std::uint64_t sent_before = 0;
  };

  Task<> play_control();
  Task<> play_anonymous();
  Task<> play_attacker(const std::string& user);
  /// Namespaces, rights, Secrets and objects of a new play. The story with its variables filled in.
  Task<Value> prepare(const Variables& more = {});
  Task<Outcome> attack(const Value& story, const std::string& user);
  Task<Answer> take(const Value& step, const std::string& user);
  Task<bool> until(const Value& looks, const Outcome& outcome, Duration limit);
  Task<bool> holds(const Value& look, const Outcome& outcome);
  Task<> play_neighbour(const Value& then);
  Task<> scan();
  /// "" where its kind is not served.
  std::string path_of(const Value& object, bool is_list);
  Task<> must(const Value& object);
  std::string told();

  World& world_;
  const Value& file_;
  const Value& story_;
  Variables variables_;
  std::vector<std::string> seen_;  // of the last looks that did not hold
};

/// An object of every family that reaches its end by itself, all at once, each in a namespace of its own: `neighbour` of the
/// families' files. Seconds from its creation to its end by family; 120 where it did not come.
Task<std::map<std::string, double>> play_neighbours(World& world, std::vector<std::string> families);

/// Counts plays, so that each has namespaces of its own.
int next_play();

}  // namespace slipway::attack
