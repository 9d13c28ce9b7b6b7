#include <gtest/gtest.h>

#include "cel/program.h"

namespace slipway::cel {
namespace {

/// "true" and "false", the text of a string, the message of an error, what does not compile.
std::string run(std::string_view text) {
  const auto program = Program::compile(text, {});
  if (!program) return program.error().substr(0, program.error().find('\n'));
  Budget budget(1'000'000);
  const Value value = (*program)->run({}, budget);
  if (value.is(Kind::Bool)) return value.truth ? "true" : "false";
  if (value.is_error() || value.is(Kind::String)) return std::string(value.text());
  return to_string(*runtime_type(value));
}

void expect_true(std::initializer_list<std::string_view> texts) {
  for (const std::string_view text : texts) EXPECT_EQ(run(text), "true") << text;
}

TEST(Library, errors_are_worded_as_in_go) {
  EXPECT_EQ(run("1 / 0 == 1"), "division by zero");
  EXPECT_EQ(run("[1][5] == 1"), "index out of bounds: 5");
  EXPECT_EQ(run("{'a': 1}['b'] == 1"), "no such key: b");
  EXPECT_EQ(run("9223372036854775807 + 1 == 0"), "integer overflow");
  EXPECT_EQ(run("1 + 'a' == 2"), "ERROR: <input>:1:3: found no matching overload for '_+_' applied to '(int, string)'");
  EXPECT_EQ(run("true || 1 / 0 == 1"), "true");
  EXPECT_EQ(run("1 / 0 == 1 && false"), "false");
}

TEST(Library, lists_have_sums_extremes_and_places) {
  expect_true({"[1, 2, 3].sum() == 6", "[1.5, 2.5].sum() == 4.0", "[duration('1m'), duration('1s')].sum() == duration('61s')",
               "[3, 1, 2].min() == 1", "['a', 'c', 'b'].max() == 'c'", "[1, 2, 2].isSorted()", "!['b', 'a'].isSorted()",
               "[1, 2, 1].indexOf(1) == 0", "[1, 2, 1].lastIndexOf(1) == 2", "[1].indexOf(5) == -1",
               "sets.contains([1, 2], [2])", "sets.equivalent([1, 1, 2], [2, 1])", "sets.intersects([1], [1, 2])",
               "!sets.intersects([1], [2])"});
  EXPECT_EQ(run("[].min() == 1"), "min called on empty list");
}

TEST(Library, lists_are_cut_flattened_and_counted_out) {
  expect_true({"lists.range(3) == [0, 1, 2]", "lists.range(0) == []", "lists.range(-1) == []",
               "[1, 2, 3].slice(1, 3) == [2, 3]", "[1, 2].slice(2, 2) == []", "[[1], [2, 3]].flatten() == [1, 2, 3]",
               "[[1, [2]], [3]].flatten(1) == [1, [2], 3]", "[[1, [2]], [3]].flatten(2) == [1, 2, 3]",
               "dyn([1, [2]]).flatten() == [1, 2]", "[1, 2].flatten(0) == [1, 2]", "[3, 1, 2].reverse() == [2, 1, 3]",
               "[].reverse() == []", "[1, 2].first() == optional.of(1)", "[1, 2].last().value() == 2",
               "[].first() == optional.none()", "!dyn([]).last().hasValue()"});
  EXPECT_EQ(run("[1].slice(-1, 0) == []"), "cannot slice(-1, 0), negative indexes not supported");
  EXPECT_EQ(run("[1].slice(1, 0) == []"), "cannot slice(1, 0), start index must be less than or equal to end index");
  EXPECT_EQ(run("[1].slice(0, 2) == []"), "cannot slice(0, 2), list is length 1");
  EXPECT_EQ(run("[[1]].flatten(-1) == [1]"), "level must be non-negative");
  EXPECT_EQ(run("lists.range(9223372036854775807).size() == 0"), kCostExceeded);
}

TEST(Library, lists_are_sorted_by_themselves_or_a_key) {
  expect_true({"[3, 1, 2].sort() == [1, 2, 3]", "['b', 'a'].sort() == ['a', 'b']", "[].sort() == []",
               "[duration('1m'), duration('1s')].sort()[0] == duration('1s')", "[true, false].sort() == [false, true]",
               "dyn([2, 1]).sort() == [1, 2]", "[1.0, double('NaN'), 0.5].sort()[0] == 0.5",
               "[1, -3, 2].sortBy(e, -e * e) == [-3, 2, 1]", "['bb', 'c', 'aa'].sortBy(e, e.size()) == ['c', 'bb', 'aa']",
               "[{'n': 'b'}, {'n': 'a'}].sortBy(e, e.n)[0].n == 'a'", "[].sortBy(e, e) == []",
               "[2, 1, 2, 1].distinct() == [2, 1]", "[[1], [1], [2]].distinct() == [[1], [2]]",
               "[{'a': 1}, {'a': 1}].distinct().size() == 1"});
  EXPECT_EQ(run("dyn([1, 'a']).sort() == []"), "list elements must have the same type");
  EXPECT_EQ(run("dyn([[1], [2]]).sort() == []"), "list elements must be comparable");
  EXPECT_EQ(run("[1].sortBy(e, 1 / 0) == []"), "division by zero");
  EXPECT_TRUE(run("[1].sortBy(e, [e]) == [1]").find("no matching overload for '@sortByAssociatedKeys'") != std::string::npos);
  EXPECT_TRUE(run("{'a': 1}.sortBy(e, e) == []").find("no matching overload for '@sortByAssociatedKeys'") != std::string::npos);
  EXPECT_EQ(run("dyn({'a': 1}).sortBy(e, e) == []"), "no such overload");
}

TEST(Library, the_zero_of_times_is_the_year_one) {
  expect_true({"optional.ofNonZeroValue(timestamp('0001-01-01T00:00:00Z')) == optional.none()",
               "optional.ofNonZeroValue(timestamp('1970-01-01T00:00:00Z')).hasValue()"});
}

TEST(Library, patterns_are_re2) {
  expect_true({"'abc 123'.find('[0-9]+') == '123'", "'a1b2'.findAll('[0-9]') == ['1', '2']",
               "'a1b2'.findAll('[0-9]', 1) == ['1']", "'abc'.find('x') == ''", "'abc'.matches('^a.c$')",
               "'' + 'xabcx' == 'xabcx' && 'xabcx'.matches('abc')"});
  EXPECT_TRUE(run("'a'.matches('(')").find("error parsing regexp") != std::string::npos);
}

TEST(Library, urls_are_taken_apart) {
  expect_true({"isURL('https://user:p@example.com:8080/a%20b?x=1&x=2&y=')", "!isURL('../relative')", "!isURL('https://a:b:c/')",
               "isURL('/path')", "url('https://u:p@example.com:80/').getHost() == 'example.com:80'",
               "url('https://[::1]:80/').getHostname() == '::1'", "url('https://[::1]:80/').getPort() == '80'",
               "url('https://a/b c').getEscapedPath() == '/b%20c'", "url('https://a/?x=1&x=2')  .getQuery()['x'] == ['1', '2']",
               "url('/p').getScheme() == ''", "url('https://a/p?x=1#end').getQuery() == {'x': ['1']}",
               "url('https://a/p#end?x=1').getEscapedPath() == '/p'", "url('https://a/p#end?x=1').getQuery() == {}",
               "url('/p#end') != url('/p')", "!isURL('https://a#end')", "url('https://a/') == url('https://a/')"});
}

TEST(Library, addresses_and_networks) {
  expect_true({"isIP('127.0.0.1')",
               "!isIP('127.0.0.01')",
               "!isIP('::ffff:1.2.3.4')",
               "!isIP('fe80::1%en0')",
               "ip('::1').family() == 6",
               "ip('127.0.0.1').isLoopback()",
               "ip('0.0.0.0').isUnspecified()",
               "ip('169.254.1.1').isLinkLocalUnicast()",
               "ip('224.0.0.1').isLinkLocalMulticast()",
               "ip('8.8.8.8').isGlobalUnicast()",
               "ip.isCanonical('2001:db8::1')",
               "!ip.isCanonical('2001:DB8::1')",
               "ip('::0') == ip('::')",
               "string(ip('::0')) == '::'",
               "isCIDR('10.0.0.0/8')",
               "!isCIDR('10.0.0.0/33')",
               "cidr('10.0.0.0/8').containsIP('10.1.2.3')",
               "cidr('10.0.0.0/8').containsIP(ip('10.1.2.3'))",
               "!cidr('10.0.0.0/8').containsIP('11.0.0.0')",
               "cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16')",
               "!cidr('10.1.0.0/16').containsCIDR('10.0.0.0/8')",
               "cidr('10.1.2.3/8').masked() == cidr('10.0.0.0/8')",
               "cidr('10.1.2.3/8').ip() == ip('10.1.2.3')",
               "cidr('10.0.0.0/8').prefixLength() == 8",
               "string(cidr('::/0')) == '::/0'",
               "type(ip('::1')) == net.IP"});
}

TEST(Library, quantities_compare_by_amount) {
  expect_true({"quantity('1Ki') == quantity('1024')", "quantity('500m').isLessThan(quantity('1'))",
               "quantity('1.5Gi').compareTo(quantity('1536Mi')) == 0", "quantity('1k').asInteger() == 1000",
               "!quantity('0.5').isInteger()", "quantity('1e3').isInteger()",
               "quantity('50').add(quantity('20')) == quantity('70')", "quantity('50').sub(60).sign() == -1",
               "quantity('1.5').asApproximateFloat() == 1.5", "!isQuantity('1z')", "!isQuantity('')", "isQuantity('-1.3Gi')"});
  EXPECT_EQ(run("quantity('500m').asInteger() == 1"), "cannot convert value to integer");
}

TEST(Library, formats_and_versions) {
  expect_true({"!format.dns1123Label().validate('my-name').hasValue()",
               "format.named('dns1123Label').value().validate('My').hasValue()", "!format.named('nothing').hasValue()",
               "!format.uuid().validate('123e4567-e89b-12d3-a456-426614174000').hasValue()",
               "!format.qualifiedName().validate('example.com/My_Name').hasValue()",
               "!format.dns1123LabelPrefix().validate('my-').hasValue()", "semver('1.2.3').isLessThan(semver('1.10.0'))",
               "semver('1.0.0-rc.1').compareTo(semver('1.0.0')) == -1", "!isSemver('v1.0')", "isSemver('v1.0', true)",
               "semver('v1.2', true) == semver('1.2.0')", "semver('1.2.3').minor() == 2", "!isSemver('01.1.1')"});
}

TEST(Library, an_exhausted_budget_is_not_absorbed) {
  const auto program = Program::compile("[1, 2, 3, 4].all(a, [1, 2, 3, 4].all(b, a + b > 100)) || true", {});
  ASSERT_TRUE(program);
  Budget budget(20);
  EXPECT_EQ((*program)->run({}, budget).text(), kCostExceeded);
  Budget enough(10'000);
  EXPECT_TRUE((*program)->run({}, enough).is_true());
}

TEST(Library, shared_parts_do_not_make_endless_work) {
  std::string twice = "[0]";
  for (int i = 0; i < 60; ++i) twice += ".map(x, [x, x])";
  EXPECT_EQ(run(twice + " == " + twice), kCostExceeded);
  EXPECT_TRUE(run("'%s'.format([" + twice + "]) == ''").starts_with("error during formatting"));
}

}  // namespace
}  // namespace slipway::cel
