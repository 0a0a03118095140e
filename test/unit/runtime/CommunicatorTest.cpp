//===- CommunicatorTest.cpp - Collectives between processes ----*- C++ -*-===//
//
// Every collective on both transports against what it is defined to be, bit for bit.
//
//===----------------------------------------------------------------------===//

#include "Ranks.h"
#include "fleet_rt/fleet_rt.h"

#include <chrono>
#include <csignal>
#include <cstring>
#include <gtest/gtest.h>
#include <numeric>
#include <unistd.h>

using namespace fleet_rt;

namespace {

/// A number that depends on rank and index, with a rounding error in sums.
template <typename T> T valueAt(int rank, int64_t i) {
  return static_cast<T>((rank + 1) * 0.37 + i * 1.7 + (i % 7) * 0.011);
}

std::string hex(const void *data, size_t bytes) {
  static const char digits[] = "0123456789abcdef";
  std::string text;
  for (size_t i = 0; i < bytes; ++i) {
    unsigned char byte = static_cast<const unsigned char *>(data)[i];
    text += {digits[byte >> 4], digits[byte & 15]};
  }
  return text;
}

std::vector<int64_t> everyone(int size) {
  std::vector<int64_t> all(size);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

class Collectives
    : public testing::TestWithParam<std::tuple<std::string, int>> {
protected:
  std::string transport() const { return std::get<0>(GetParam()); }
  int size() const { return std::get<1>(GetParam()); }

  template <typename T> void checkAllReduce(int32_t dtype, int64_t count);
};

template <typename T>
void Collectives::checkAllReduce(int32_t dtype, int64_t count) {
  std::vector<T> expected(count);
  for (int64_t i = 0; i < count; ++i) {
    expected[i] = valueAt<T>(0, i);
    for (int r = 1; r < size(); ++r)
      expected[i] = static_cast<T>(expected[i] + valueAt<T>(r, i));
  }
  auto results = runRanks(
      size(), transport(), count * 8 + 64, [&](int rank, Transport &t) {
        auto group = t.group(0, everyone(size()));
        T *data = reinterpret_cast<T *>(t.arena());
        // Twice, so that a missing wait between collectives shows.
        for (int round = 0; round < 2; ++round) {
          for (int64_t i = 0; i < count; ++i)
            data[i] = valueAt<T>(rank, i);
          group->allReduce(FLEET_RT_SUM, dtype, data, count);
        }
        return hex(data, std::min<int64_t>(count, 500) * sizeof(T));
      });
  for (const RankResult &result : results) {
    EXPECT_EQ(result.code, 0) << result.text;
    EXPECT_EQ(result.text,
              hex(expected.data(), std::min<int64_t>(count, 500) * sizeof(T)));
  }
}

TEST_P(Collectives, AllReduceFloat) {
  checkAllReduce<float>(FLEET_RT_F32, 1);
  checkAllReduce<float>(FLEET_RT_F32, 10007);
}
TEST_P(Collectives, AllReduceDouble) {
  checkAllReduce<double>(FLEET_RT_F64, 129);
}
TEST_P(Collectives, AllReduceInteger) {
  checkAllReduce<int64_t>(FLEET_RT_I64, 33);
}

TEST_P(Collectives, AllGatherInterleaves) {
  const int64_t outer = 3, inner = 5;
  auto results =
      runRanks(size(), transport(), 1 << 16, [&](int rank, Transport &t) {
        auto group = t.group(0, everyone(size()));
        float *in = reinterpret_cast<float *>(t.arena()), *out = in + 1024;
        for (int64_t i = 0; i < outer * inner; ++i)
          in[i] = rank * 100 + i;
        group->allGather(FLEET_RT_F32, in, out, outer, inner);
        for (int64_t o = 0; o < outer; ++o)
          for (int r = 0; r < size(); ++r)
            for (int64_t i = 0; i < inner; ++i)
              if (out[(o * size() + r) * inner + i] != r * 100 + o * inner + i)
                return std::string("wrong element");
        return std::string("ok");
      });
  for (const RankResult &result : results)
    EXPECT_EQ(result.text, "ok");
}

TEST_P(Collectives, ReduceScatterTakesOwnPart) {
  const int64_t outer = 2, inner = 3;
  auto results =
      runRanks(size(), transport(), 1 << 16, [&](int rank, Transport &t) {
        auto group = t.group(0, everyone(size()));
        double *in = reinterpret_cast<double *>(t.arena()), *out = in + 1024;
        for (int64_t i = 0; i < outer * size() * inner; ++i)
          in[i] = valueAt<double>(rank, i);
        group->reduceScatter(FLEET_RT_MAX, FLEET_RT_F64, in, out, outer, inner);
        for (int64_t o = 0; o < outer; ++o)
          for (int64_t i = 0; i < inner; ++i)
            if (out[o * inner + i] !=
                valueAt<double>(size() - 1, (o * size() + rank) * inner + i))
              return std::string("wrong element");
        return std::string("ok");
      });
  for (const RankResult &result : results)
    EXPECT_EQ(result.text, "ok");
}

TEST_P(Collectives, AllToAllTransposes) {
  const int64_t outer = 2, inner = 3;
  auto results =
      runRanks(size(), transport(), 1 << 16, [&](int rank, Transport &t) {
        auto group = t.group(0, everyone(size()));
        int64_t *in = reinterpret_cast<int64_t *>(t.arena()), *out = in + 1024;
        for (int64_t i = 0; i < outer * size() * inner; ++i)
          in[i] = rank * 1000 + i;
        group->allToAll(FLEET_RT_I64, in, out, outer, inner);
        for (int r = 0; r < size(); ++r)
          for (int64_t o = 0; o < outer; ++o)
            for (int64_t i = 0; i < inner; ++i)
              if (out[(r * outer + o) * inner + i] !=
                  r * 1000 + (o * size() + rank) * inner + i)
                return std::string("wrong element");
        return std::string("ok");
      });
  for (const RankResult &result : results)
    EXPECT_EQ(result.text, "ok");
}

TEST_P(Collectives, SendsPassAroundARing) {
  auto results =
      runRanks(size(), transport(), 4096, [&](int rank, Transport &t) {
        int64_t *data = reinterpret_cast<int64_t *>(t.arena());
        int next = (rank + 1) % size(), last = (rank + size() - 1) % size();
        data[0] = 7;
        if (rank == 0) {
          t.send(next, data, 8);
          t.recv(last, data, 8);
        } else {
          t.recv(last, data, 8);
          ++data[0];
          t.send(next, data, 8);
        }
        return std::to_string(data[0]);
      });
  EXPECT_EQ(results[0].text, std::to_string(7 + size() - 1));
}

INSTANTIATE_TEST_SUITE_P(All, Collectives,
                         testing::Combine(testing::Values("shm", "gloo"),
                                          testing::Values(2, 3, 4, 8)),
                         [](const auto &info) {
                           return std::get<0>(info.param) +
                                  std::to_string(std::get<1>(info.param));
                         });

TEST(Failure, SurvivorsSayWhomTheyWaitedFor) {
  for (const char *transport : {"shm", "gloo"}) {
    auto begin = std::chrono::steady_clock::now();
    auto results = runRanks(3, transport, 4096, [&](int rank, Transport &t) {
      auto group = t.group(0, everyone(3));
      t.barrier();
      if (rank == 1)
        ::raise(SIGKILL);
      float *data = reinterpret_cast<float *>(t.arena());
      group->allReduce(FLEET_RT_SUM, FLEET_RT_F32, data, 4);
      return std::string("not reached");
    });
    EXPECT_EQ(results[1].code, -1);
    for (int rank : {0, 2}) {
      EXPECT_EQ(results[rank].code, 1) << transport;
      EXPECT_NE(results[rank].text.find("rank"), std::string::npos)
          << results[rank].text;
    }
    EXPECT_NE(results[0].text.find("1"), std::string::npos) << results[0].text;
    EXPECT_LT(std::chrono::steady_clock::now() - begin,
              std::chrono::seconds(6));
  }
}

TEST(Failure, AStuckPeerExceedsTheDeadline) {
  auto results = runRanks(
      2, "shm", 4096,
      [&](int rank, Transport &t) {
        if (rank == 1)
          ::sleep(4);
        else
          t.recv(1, t.arena(), 8);
        return std::string("not reached");
      },
      /*timeout=*/1);
  EXPECT_EQ(results[0].code, 1);
  EXPECT_EQ(results[0].text, "waited 1 s for rank 1");
}

} // namespace
