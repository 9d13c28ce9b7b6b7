// The short form of a fuzz target: a fixed number of seeded inputs, made by mutating a few that look like what people write.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <random>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr int kInputs = 3000;

constexpr std::array kSeeds{
    R"({"a":[1,2.5,-3e7,"x\u00e9\n"],"b":{"c":null,"d":true}})",
    "a: 1\nb:\n  - x\n  - {y: z}\nc: |\n  text\n  more\n",
    "app=web,tier in (a,b),!gone,count>3",
    R"({"metadata":{"finalizers":["a","b"]},"spec":{"containers":[{"name":"a","env":[{"name":"E"}]},{"name":"b"}],"ports":[{"port":1}]}})"
    "\n"
    R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["a"]},"spec":{"$setElementOrder/containers":[{"name":"b"},{"name":"a"}],)"
    R"("containers":[{"name":"a","$patch":"delete"},{"name":"c","$retainKeys":["name"]},{"$patch":"replace"}],"ports":null}})",
    "{range .items[*]}{.metadata.name}{\"\\t\"}{.status.phase}{end}",
    R"([{"op":"add","path":"/a/0","value":{}},{"op":"remove","path":"/b"}])",
    "1Gi",
    "250m",
    "12e6",
    "&a [*a, !!str 1, 0x1F, ~, yes]",
    "package p\nimport \"strings\"\n#D: {a: int | *3, b?: string, ...}\nx: #D & {a: >2}\ny: strings.ToUpper(\"a\\(x.a)\")\n",
    "has(self.list) && self.list.all(x, x > 0 ? [x, 1u].size() == 2 : self.map['k'].matches('^a+$')) || app in [1, -2]",
    "optional.of({'a': b'\\x00'}).?a.orValue(b'') == b'' && quantity('1Gi').isGreaterThan(quantity('1')) && '%s'.format([1.5]) "
    "!= ''",
    "POST /api/v1/a%2Fb?watch=true&x=%C3%A9 HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello",
    "PUT http://a/b HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n1\r\nd\r\n0\r\nTrailer: t\r\n\r\n",
    "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nbody",
    "\x01\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58\x89\x81\x01\x01\x01\x01p\x80\x81\x01\x01\x01\x01q\x88\x80\x01\x01\x01\x01",
    // protobuf: a Deployment with name, label, replicas and a container
    "\x0a\x0b\x0a\x01"
    "dZ\x06\x0a\x01k\x12\x01v\x12\x12\x08\x03\x1a\x0e\x12\x0c\x12\x0a\x0a\x01"
    "c\x12\x01i*\x02-a",
    "\x81\x05Hello\x02\x03Hel\x80\x02lo\x8a\x01x",
};

std::string mutate(std::mt19937& random) {
  std::string text = kSeeds[random() % kSeeds.size()];
  const int changes = static_cast<int>(random() % 8);
  for (int i = 0; i < changes && !text.empty(); ++i) {
    const std::size_t at = random() % text.size();
    switch (random() % 5) {
      case 0:
        text[at] = static_cast<char>(random());
        break;
      case 1:
        text.erase(at, 1 + random() % 4);
        break;
      case 2:
        text.insert(at, text.substr(random() % text.size(), random() % 12));
        break;
      case 3:
        text.insert(at, 1, "{}[]\"'\\:,&*|>-#!%@`\n\t 0"[random() % 24]);
        break;
      default:
        text.resize(at);
        break;
    }
  }
  return text;
}

TEST(Fuzz, survives_seeded_inputs) {
  std::mt19937 random(20240607);
  for (int i = 0; i < kInputs; ++i) {
    const std::string text = mutate(random);
    EXPECT_EQ(LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()), 0);
  }
}

}  // namespace
