// The main of every test program. Exits 1 when no test ran, so that an empty program cannot pass.
#include <gtest/gtest.h>

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const int outcome = RUN_ALL_TESTS();
  return testing::UnitTest::GetInstance()->test_to_run_count() == 0 ? 1 : outcome;
}
