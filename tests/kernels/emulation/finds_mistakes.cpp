// Does the emulation find what would go wrong on a device? What it lets pass, the tests of the kernels cannot see.
#include <catch2/catch.hpp>

#include "broken_kernels.h"
#include "kernels/cuda_queue.h"

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
