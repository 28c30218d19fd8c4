// Does the emulation find what would go wrong on a device? What it lets pass, the tests of the kernels cannot see.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <random>

#include "broken_kernels.h"
#include "device_limits.h"
#include "kernel_case.h"
#include "kernels/cuda_queue.h"
#include "kernels/peer_ranks.h"

using namespace treeline::testing;
using namespace treeline::kernels;
using Catch::Contains;

TEST_CASE("a kernel without mistakes runs") { CHECK(sum_with(Mistake::none) == 64.0F); }

TEST_CASE("races, barriers and collectives that not all threads reach end a launch") {
    CHECK_THROWS_WITH(sum_with(Mistake::missing_barrier), Contains("no barrier lies between"));
    CHECK_THROWS_WITH(sum_with(Mistake::global_race), Contains("no barrier lies between"));
    CHECK_THROWS_WITH(sum_with(Mistake::divergent_barrier), Contains("would hang") && Contains("has ended"));
    CHECK_THROWS_WITH(sum_with(Mistake::two_barriers), Contains("would hang") && Contains("at the barrier"));
    CHECK_THROWS_WITH(sum_with(Mistake::divergent_shuffle), Contains("would hang") && Contains("collective"));
}

TEST_CASE("what copies bring is there for a thread that waits, and for others after a barrier") {
    CHECK(sum_with(Mistake::none_with_copies) == 64.0F);
    CHECK(std::isnan(sum_with(Mistake::awaits_no_copies)));
    CHECK_THROWS_WITH(sum_with(Mistake::missing_after_copy), Contains("no barrier lies between"));
}

TEST_CASE("a warp's tensor core multiplies matrices") {
    std::mt19937_64 random(test_seed());
    const auto random_matrix = [&](std::size_t size) {
        std::vector<Bf16> matrix(size);
        std::generate(matrix.begin(), matrix.end(),
                      [&] { return to_bf16(std::uniform_real_distribution<float>(-1.0F, 1.0F)(random)); });
        return matrix;
    };
    const std::vector<Bf16> a = random_matrix(16 * 16), b = random_matrix(16 * 8);
    const std::vector<float> sum = random_floats(random, 16 * 8, -1, 1), result = product_of(a, b, sum, 32);
    for (std::size_t row = 0; row < 16; ++row) {
        for (std::size_t column = 0; column < 8; ++column) {
            double expected = sum[row * 8 + column];
            for (std::size_t k = 0; k < 16; ++k) {
                expected += double{to_float(a[row * 16 + k])} * double{to_float(b[k * 8 + column])};
            }
            CHECK(std::abs(result[row * 8 + column] - expected) < 1e-5);  // 16 sums below 16, to 2^-24 each
        }
    }
    CHECK_THROWS_WITH(product_of(a, b, sum, 31), Contains("would hang") && Contains("collective"));
}

TEST_CASE("memory of others, or not aligned, ends a launch") {
    CHECK_THROWS_WITH(sum_with(Mistake::past_the_end), Contains("beyond what was allocated"));
    CHECK_THROWS_WITH(sum_with(Mistake::of_the_host), Contains("not the device's"));
    CHECK_THROWS_WITH(sum_with(Mistake::misaligned), Contains("not aligned"));
}

TEST_CASE("shared memory beyond what is granted ends a launch") {
    CHECK_THROWS_WITH(sum_with(Mistake::too_much_shared), Contains("256 bytes of shared memory and asks for 49152"));
}

TEST_CASE("work waits for somebody who waits for it") {
    const Backend& cuda = cuda_backend();
    const CudaQueue queue;
    void* memory = cuda.allocate(16);
    unsigned words[4] = {};
    cuda.write_probe({memory, 16, 7}, queue.queue());
    cuda.download(words, memory, 16, {});  // of another queue, which does not wait for the first
    CHECK(words[0] == 0xffffffffU);
    cuda.download(words, memory, 16, queue.queue());
    CHECK(words[0] == 7);
    cuda.release(memory);
}

TEST_CASE("recording refuses what CUDA refuses, and leaves the queue usable") {
    const Backend& cuda = cuda_backend();
    const CudaQueue queue, other;
    void* memory = cuda.allocate(16);
    CHECK_THROWS_WITH(CudaGraph(queue, [&](Queue) { cuda.allocate(16); }), Contains("cudaMalloc while a graph is recorded"));
    CHECK_THROWS_WITH(CudaGraph(queue, [&](Queue at) { cuda.wait(at); }), Contains("while a graph is recorded"));
    CHECK_THROWS_WITH(CudaGraph(queue,
                                [&](Queue) {
                                    cuda.write_probe({memory, 16, 7}, other.queue());
                                }),
                      Contains("another stream"));
    const CudaGraph graph(queue, [&](Queue at) { cuda.write_probe({memory, 16, 9}, at); });
    graph.replay(queue.queue());
    unsigned words[4] = {};
    cuda.download(words, memory, 16, queue.queue());
    CHECK(words[3] == 9);
    cuda.release(memory);
}

TEST_CASE("a rank that the other leaves alone would hang, and memory of a device that was not let reach it ends a launch") {
    emulation::forget_peers();  // tests before this one may have let them
    const Backend& cuda = cuda_backend();
    void* of_first = cuda.allocate(16);
    select_cuda_device(1);
    {
        const CudaQueue queue;
        cuda.write_probe({of_first, 16, 7}, queue.queue());
        CHECK_THROWS_WITH(cuda.wait(queue.queue()), Contains("memory of another device"));
    }
    select_cuda_device(0);
    cuda.release(of_first);
    const PeerRanks ranks(64);
    ranks.all_reduce(0, 64, ranks.queue(0).queue());
    CHECK_THROWS_WITH(cuda.wait(ranks.queue(0).queue()), Contains("would hang") && Contains("no work of the other device"));
}
