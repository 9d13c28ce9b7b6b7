// allows(), and missing_rules(): whether some rules cover others.
//
// Each held rule is a bit. Of each word of a wanted rule it is found out which held rules have it; words with the same bits are
// one class. A verb, group, resource and name are covered together when one rule has all four: when the intersection of their
// bits is not empty. So classes are compared, not words:
//
//   held    0: get,list pods         1: * secrets
//   wanted  get,watch on pods,secrets
//   bits    get 11, watch 01; pods 10, secrets 01
//   classes get&pods 10, get&secrets 01, watch&secrets 01: covered; watch&pods 00: missing
#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <map>
#include <set>
#include <span>

#include "server/access/policy.h"

namespace slipway::server {

namespace {

constexpr std::size_t kMostSteps = 100'000;  // of some 0.1 µs
constexpr std::size_t kMostToldBytes = std::size_t{8} << 10;

/// A set of held rules.
using Bits = std::vector<std::uint64_t>;

struct Word {
  std::string_view text;
  std::size_t place;  // in the list of the wanted rule
};

struct Class {
  Bits bits;
  std::vector<Word> words;
};

Bits operator&(const Bits& left, const Bits& right) {
  Bits both(left.size());
  for (std::size_t i = 0; i < both.size(); ++i) both[i] = left[i] & right[i];
  return both;
}

bool meets(const Bits& left, const Bits& right) {
  for (std::size_t i = 0; i < left.size(); ++i) {
    if ((left[i] & right[i]) != 0) return true;
  }
  return false;
}

/// Which held rules have a word in one of their lists.
class WordIndex {
 public:
  explicit WordIndex(std::size_t rules) : none_((rules + 63) / 64) {}

  void add(std::size_t rule, std::span<const std::string> words) {
    for (const std::string& word : words) set(rule, word);
  }
  void set(std::size_t rule, std::string_view word) {
    rules_of_.try_emplace(word, none_).first->second[rule / 64] |= std::uint64_t{1} << (rule % 64);
  }
  void join(std::string_view word, Bits& into) const {
    const auto found = rules_of_.find(word);
    if (found == rules_of_.end()) return;
    for (std::size_t i = 0; i < into.size(); ++i) into[i] |= found->second[i];
  }
  const Bits& none() const { return none_; }
  auto begin() const { return rules_of_.begin(); }
  auto end() const { return rules_of_.end(); }
  std::size_t size() const { return rules_of_.size(); }

 private:
  std::map<std::string_view, Bits> rules_of_;
  Bits none_;
};

class Cover {
 public:
  explicit Cover(const std::vector<PolicyRule>& held)
      : verbs_(held.size()), groups_(held.size()), resources_(held.size()), names_(held.size()), paths_(held.size()) {
    for (std::size_t i = 0; i < held.size(); ++i) {
      verbs_.add(i, held[i].verbs);
      groups_.add(i, held[i].groups);
      resources_.add(i, held[i].resources);
      for (const std::string& name : held[i].names) {
        if (!name.empty()) names_.set(i, name);
      }
      if (held[i].names.empty()) names_.set(i, kEveryName);
      paths_.add(i, held[i].paths);
    }
  }

  /// Adds what is missing of one rule.
  void compare(const PolicyRule& wanted) {
    const auto verbs = classes(wanted.verbs, [&](std::string_view verb) { return word_bits(verbs_, verb); });
    compare_resources(wanted, verbs);
    const auto paths = classes(wanted.paths, [&](std::string_view path) { return path_bits(path); });
    for (const Class& path : paths) {
      const auto missing = missing_verbs(verbs, path.bits);
      for (const Word& word : path.words) {
        if (missing.empty() || is_cut_) break;
        tell(PolicyRule{.paths = {std::string(word.text)}}, missing);
      }
    }
  }

  MissingRules take() {
    MissingRules missing{.rules = {}, .is_cut = is_cut_};
    for (auto& [thing, verbs] : verbs_of_) {
      missing.rules.push_back(thing);
      missing.rules.back().verbs = std::move(verbs);
    }
    return missing;
  }

 private:
  static constexpr std::string_view kEveryName = "";

  bool spend(std::size_t steps) {
    steps_ += steps;
    is_cut_ |= steps_ > kMostSteps;
    return !is_cut_;
  }

  template <class BitsOf>
  std::vector<Class> classes(const std::vector<std::string>& words, BitsOf bits_of) {
    std::vector<Class> made;
    std::map<Bits, std::size_t> place;
    std::set<std::string_view> seen;
    for (const std::string& word : words) {
      if (!seen.insert(word).second) continue;
      if (!spend(1 + verbs_.none().size())) break;
      Bits bits = bits_of(word);
      const auto [found, is_new] = place.try_emplace(std::move(bits), made.size());
      if (is_new) made.push_back({found->first, {}});
      made[found->second].words.push_back({word, seen.size()});
    }
    return made;
  }

  static Bits word_bits(const WordIndex& index, std::string_view word) {
    Bits bits = index.none();
    index.join("*", bits);
    index.join(word, bits);
    return bits;
  }

  Bits resource_bits(std::string_view resource) const {
    Bits bits = word_bits(resources_, resource);
    const std::size_t slash = resource.find('/');
    if (slash != std::string_view::npos) resources_.join("*" + std::string(resource.substr(slash)), bits);
    return bits;
  }

  /// "" stands for every name, which only a rule without names has.
  Bits name_bits(std::string_view name) const {
    Bits bits = names_.none();
    names_.join(kEveryName, bits);
    if (name != kEveryName) names_.join(name, bits);
    return bits;
  }

  Bits path_bits(std::string_view path) {
    Bits bits = word_bits(paths_, path);
    spend(paths_.size());
    for (const auto& [pattern, rules] : paths_) {
      if (!pattern.ends_with('*') || !path.starts_with(pattern.substr(0, pattern.size() - 1))) continue;
      for (std::size_t i = 0; i < bits.size(); ++i) bits[i] |= rules[i];
    }
    return bits;
  }

  void compare_resources(const PolicyRule& wanted, const std::vector<Class>& verbs) {
    static const std::vector<std::string> kAll{std::string(kEveryName)};
    const auto groups = classes(wanted.groups, [&](std::string_view group) { return word_bits(groups_, group); });
    const auto resources = classes(wanted.resources, [&](std::string_view resource) { return resource_bits(resource); });
    const auto names =
        classes(wanted.names.empty() ? kAll : wanted.names, [&](std::string_view name) { return name_bits(name); });
    if (is_covered_by_one({&verbs, &groups, &resources, &names})) return;
    for (const Class& group : groups) {
      for (const Class& resource : resources) {
        const Bits both = group.bits & resource.bits;
        for (const Class& name : names) {
          if (!spend(both.size() * (verbs.size() + 1))) return;
          const auto missing = missing_verbs(verbs, both & name.bits);
          if (!missing.empty()) tell_resources(group, resource, name, missing);
        }
      }
    }
  }

  /// Whether one held rule has every word: the usual way in which much is covered.
  bool is_covered_by_one(std::initializer_list<const std::vector<Class>*> lists) const {
    Bits bits(verbs_.none().size(), ~std::uint64_t{0});
    for (const auto* list : lists) {
      for (const Class& one : *list) bits = bits & one.bits;
    }
    return !is_cut_ && meets(bits, bits);
  }

  void tell_resources(const Class& groups, const Class& resources, const Class& names,
                      const std::vector<std::string_view>& verbs) {
    for (const Word& group : groups.words) {
      for (const Word& resource : resources.words) {
        for (const Word& name : names.words) {
          PolicyRule thing{.groups = {std::string(group.text)}, .resources = {std::string(resource.text)}};
          if (!name.text.empty()) thing.names = {std::string(name.text)};
          tell(thing, verbs);
          if (is_cut_) return;
        }
      }
    }
  }

  /// The verbs that no rule of `bits` has, in the order of the wanted rule.
  std::vector<std::string_view> missing_verbs(const std::vector<Class>& verbs, const Bits& bits) {
    std::vector<Word> missing;
    for (const Class& verb : verbs) {
      if (!meets(bits, verb.bits) && spend(verb.words.size())) std::ranges::copy(verb.words, std::back_inserter(missing));
    }
    std::ranges::sort(missing, {}, &Word::place);
    std::vector<std::string_view> texts;
    for (const Word& word : missing) texts.push_back(word.text);
    return texts;
  }

  void tell(const PolicyRule& thing, const std::vector<std::string_view>& verbs) {
    const std::size_t bytes = thing.to_string().size();
    if (!verbs_of_.contains(thing) && !has_room_for(bytes)) return;
    std::vector<std::string>& told = verbs_of_[thing];
    for (const std::string_view verb : verbs) {
      if (std::ranges::find(told, verb) != told.end()) continue;
      if (!has_room_for(verb.size() + 3)) break;
      told.emplace_back(verb);
    }
    if (told.empty()) verbs_of_.erase(thing);
  }

  bool has_room_for(std::size_t bytes) {
    if (told_bytes_ + bytes > kMostToldBytes) is_cut_ = true;
    told_bytes_ += bytes;
    return !is_cut_;
  }

  WordIndex verbs_;
  WordIndex groups_;
  WordIndex resources_;
  WordIndex names_;
  WordIndex paths_;
  std::size_t steps_ = 0;
  std::size_t told_bytes_ = 0;
  bool is_cut_ = false;
  std::map<PolicyRule, std::vector<std::string>> verbs_of_;  // by a rule without verbs
};

}  // namespace

bool allows(const PolicyRule& rule, const Attributes& what) {
  if (!what.is_resource()) return rule.allows_path(what.verb, what.path);
  const std::string resource = what.subresource.empty() ? what.resource : what.resource + "/" + what.subresource;
  return rule.allows(what.verb, what.group, resource, what.name);
}

MissingRules missing_rules(const std::vector<PolicyRule>& held, const std::vector<PolicyRule>& wanted) {
  Cover cover(held);
  for (const PolicyRule& rule : wanted) cover.compare(rule);
  return cover.take();
}

}  // namespace slipway::server
