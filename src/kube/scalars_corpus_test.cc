// Quantities, names and human durations of the corpus. Left out, with the reason:
// - quantity: TestNewSet, TestNewScaledSet, TestMilliNewSet with a notation that does not exist
// ("invalidFormatDefaultsToExponent").
// - names: TestIsInRange, TestIsHTTPHeaderName, TestIsDomainPrefixedKey/Path, TestIsFullyQualified*,
// TestIsDNS1123SubdomainWithUnderscore:
//   rules of kinds that are not served yet.
// - human durations: TestShortHumanDurationBoundaries, a form nothing here prints.
#include <gtest/gtest.h>

#include <array>

#include "base/time.h"
#include "kube/go_literal_test.h"
#include "kube/names.h"
#include "kube/quantity.h"

namespace slipway::kube {
namespace {

using Notation = Quantity::Notation;

std::optional<Notation> notation_named(std::string_view name) {
  if (name == "DecimalSI") return Notation::DecimalSI;
  if (name == "BinarySI") return Notation::BinarySI;
  if (name == "DecimalExponent") return Notation::DecimalExponent;
  return std::nullopt;
}

/// decQuantity(digits, exponent, notation), evaluated.
Quantity dec_quantity(const json::Value& args) {
  if (!args.is_array()) {
    // The cap: 2^63 - 1 units.
    return Quantity::of_units(std::numeric_limits<std::int64_t>::max(), notation_named(args["Format"].as_string()).value());
  }
  auto nanos = static_cast<__int128>(args.item(0).as_int());
  for (std::int64_t i = args.item(1).as_int() + 9; i > 0; --i) nanos *= 10;
  for (std::int64_t i = args.item(1).as_int() + 9; i < 0; ++i) nanos /= 10;
  return Quantity::of_nanos(nanos, notation_named(args.item(2).as_string()).value());
}

TEST(QuantityCorpus, parses_as_upstream) {
  SLIPWAY_CORPUS_OR_SKIP(file, "kube/scalars/quantity_raw.json");
  Suite suite("scalars/quantity-parse");
  for (const json::Value& one : file["tables"]["TestQuantityParse#0"].items()) {
    const std::string text = one.item(0).str();
    const Quantity expected = dec_quantity(go_value(one.item(1)));
    const auto parsed = Quantity::parse(text);
    suite.expect(parsed && *parsed == expected && (parsed->is_zero() || parsed->notation() == expected.notation()), text);
    const auto negative = Quantity::parse("-" + text);
    suite.expect(negative && *negative == Quantity() - expected, "-" + text);
    const auto positive = Quantity::parse("+" + text);
    suite.expect(positive && *positive == expected, "+" + text);
  }
  for (const json::Value& one : file["tables"]["TestQuantityParse#4"].items()) {
    suite.expect(!Quantity::parse(one.as_string()), one.str());
  }
}

TEST(QuantityCorpus, prints_canonically_as_upstream) {
  SLIPWAY_CORPUS_OR_SKIP(file, "kube/scalars/quantity_raw.json");
  Suite suite("scalars/quantity-print");
  for (const json::Value& one : file["tables"]["TestQuantityString#0"].items()) {
    const Quantity made = dec_quantity(go_value(one.item(0)));
    const std::string expected = one.item(1).str();
    suite.expect(made.to_string() == expected, expected + " not " + made.to_string());
    const std::string other = one.item(2).str();
    if (other.empty()) continue;
    const auto parsed = Quantity::parse(other);
    suite.expect(parsed && *parsed == made, other);
  }
  for (const json::Value& one : file["tables"]["TestQuantityParseEmit#0"].items()) {
    const auto parsed = Quantity::parse(one.item(0).as_string());
    suite.expect(parsed && parsed->to_string() == one.item(1).as_string(), one.item(0).str());
    const auto negative = Quantity::parse("-" + one.item(0).str());
    suite.expect(negative && negative->to_string() == "-" + one.item(1).str(), "-" + one.item(0).str());
  }
}

TEST(QuantityCorpus, makes_and_rounds_as_upstream) {
  SLIPWAY_CORPUS_OR_SKIP(file, "kube/scalars/quantity_raw.json");
  Suite suite("scalars/quantity-scale");
  for (const json::Value& one : file["tables"]["TestNewSet#0"].items()) {
    const auto notation = notation_named(go_value(one.item(1)).as_string());
    if (!notation) continue;
    const Quantity made = Quantity::of_units(go_value(one.item(0)).as_int(), *notation);
    suite.expect(made.to_string() == one.item(2).as_string(), made.to_string());
  }
  for (const json::Value& one : file["tables"]["TestMilliNewSet#0"].items()) {
    const auto notation = notation_named(go_value(one.item(1)).as_string());
    if (!notation) continue;
    const Quantity made = Quantity::of_nanos(static_cast<__int128>(go_value(one.item(0)).as_int()) * 1'000'000, *notation);
    suite.expect(made.to_string() == one.item(2).as_string(), made.to_string());
  }
  for (const json::Value& one : file["tables"]["TestQuantityRoundUp#0"].items()) {
    const auto exponent = static_cast<int>(one.item(1).as_int());
    const auto parsed = Quantity::parse(one.item(0).as_string());
    const Quantity rounded = dec_quantity(go_value(one.item(2)));
    // Scaled counts steps of 10^exponent.
    std::int64_t steps = parsed->scaled(exponent);
    auto nanos = static_cast<__int128>(steps);
    for (int i = 0; i < exponent + 9; ++i) nanos *= 10;
    suite.expect(Quantity::of_nanos(nanos) == rounded, one.item(0).str());
  }
}

struct NameRule {
  std::string_view test;
  Faults (*faults)(std::string_view text);
};
constexpr std::array kNameRules{
    NameRule{"TestIsDNS1123Label", dns1123_label_faults},
    NameRule{"TestIsDNS1123Subdomain", dns1123_subdomain_faults},
    NameRule{"TestIsWildcardDNS1123Subdomain", wildcard_dns1123_subdomain_faults},
    NameRule{"TestIsDNS1035Label", dns1035_label_faults},
    NameRule{"TestIsQualifiedName", qualified_name_faults},
    NameRule{"TestIsValidLabelValue", label_value_faults},
    NameRule{"TestIsConfigMapKey", config_key_faults},
    NameRule{"TestIsRelaxedEnvVarName", env_name_faults},
    NameRule{"TestIsValidPortName", port_name_faults},
    NameRule{"TestIsValidPercent", percent_faults},
};

TEST(NamesCorpus, accepts_and_refuses_names_as_upstream) {
  SLIPWAY_CORPUS_OR_SKIP(file, "kube/scalars/names_raw.json");
  Suite suite("scalars/names");
  for (const NameRule& rule : kNameRules) {
    for (const bool is_good : {true, false}) {
      const json::Value table = go_value(file["tables"][fmt::format("{}#{}", rule.test, is_good ? 0 : 1)]);
      EXPECT_FALSE(table.empty()) << rule.test;
      for (const json::Value& one : table.items()) {
        if (!one.is_string()) continue;
        suite.expect(rule.faults(one.as_string()).empty() == is_good, fmt::format("{} {}", rule.test, one.as_string()));
      }
    }
  }
  for (const bool is_good : {true, false}) {
    const json::Value& ports = file["tables"][is_good ? "TestIsValidPortNum#0" : "TestIsValidPortNum#1"];
    for (const json::Value& one : ports.items())
      suite.expect(port_number_faults(one.as_int()).empty() == is_good, json::print(one));
  }
}

TEST(HumanDurationCorpus, prints_ages_as_kubectl) {
  SLIPWAY_CORPUS_OR_SKIP(file, "kube/scalars/human_duration.json");
  Suite suite("scalars/human-duration");
  for (const char* table : {"TestHumanDuration#0", "TestHumanDurationBoundaries#0"}) {
    for (const json::Value& one : file["tables"][table].items()) {
      // Nanoseconds beside a boundary become the microsecond on the same side of it.
      const std::int64_t nanos = go_value(one["d"]).as_int();
      const std::int64_t micros = nanos >= 0 ? nanos / 1000 : -((-nanos) / 1000);
      const std::string printed = human_duration(Duration(micros));
      suite.expect(printed == one["want"].as_string(),
                   fmt::format("{} ns: {} not {}", nanos, printed, one["want"].as_string()));
    }
  }
}

}  // namespace
}  // namespace slipway::kube
