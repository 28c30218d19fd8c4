// Do two devices that read each other's memory add what the host adds, whatever else they do before and after?
#include <catch2/catch.hpp>

#include <array>
#include <random>

#include "kernel_case.h"
#include "kernels/peer_ranks.h"

namespace kernel_all_reduce_test {

using namespace treeline::testing;
using namespace treeline::kernels;

std::vector<Bf16> random_numbers(std::mt19937_64& random, std::size_t count) {
    std::vector<Bf16> numbers;
    for (const float number : random_floats(random, count, -4.0F, 4.0F)) {
        numbers.push_back(to_bf16(number));
    }
    return numbers;
}

/// Ranks of `bytes`, or none with a reason that can be told: most machines have one device.
std::unique_ptr<PeerRanks> ranks_or_none(std::size_t bytes) {
    try {
        return std::make_unique<PeerRanks>(bytes);
    } catch (const NoPeer& reason) {
        CHECK(std::string(reason.what()).substr(0, 17) == "needs two devices");
    } catch (const KernelError&) {
        CHECK(available_devices().devices.empty());
    }
    return nullptr;
}

using Numbers = std::array<std::vector<Bf16>, PeerRanks::count>;

void check_sums(const PeerRanks& ranks, const Numbers& numbers) {
    for (const int rank : {1, 0}) {
        std::vector<Bf16> sums(numbers[0].size());
        ranks.select(rank);
        cuda_backend().download(sums.data(), ranks.sum(rank), sums.size() * sizeof(Bf16), ranks.queue(rank).queue());
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < sums.size(); ++i) {
            wrong += sums[i].bits != to_bf16(to_float(numbers[0][i]) + to_float(numbers[1][i])).bits ? 1 : 0;
        }
        CHECK(wrong == 0);
    }
}

TEST_CASE("two ranks that read each other's memory have the host's sums, round after round") {
    constexpr std::size_t most = 40000 * sizeof(Bf16);  // more than all blocks take at once
    const std::unique_ptr<PeerRanks> ranks = ranks_or_none(most);
    if (ranks == nullptr) {
        return;
    }
    std::mt19937_64 random(test_seed());
    for (const std::size_t count : {std::size_t{8}, std::size_t{4096}, std::size_t{40000}}) {
        const std::size_t bytes = count * sizeof(Bf16);
        const Numbers numbers = {random_numbers(random, count), random_numbers(random, count)};
        for (const int rank : {1, 0}) {
            ranks->select(rank);
            const Queue queue = ranks->queue(rank).queue();
            cuda_backend().upload(ranks->input(rank), numbers[std::size_t(rank)].data(), bytes, queue);
            ranks->all_reduce(rank, bytes, queue);
            // Nobody reads the inputs any more when a rank's part is over.
            cuda_backend().write_probe({ranks->input(rank), bytes, 0x7fc07fc0U}, queue);
        }
        ranks->wait();
        check_sums(*ranks, numbers);
    }
    CHECK_THROWS_AS(ranks->all_reduce(0, most + 16, ranks->queue(0).queue()), std::invalid_argument);
    CHECK_THROWS_AS(ranks->all_reduce(0, 8, ranks->queue(0).queue()), std::invalid_argument);
}

TEST_CASE("ranks keep step within graphs that are replayed") {
    constexpr std::size_t count = 1024, bytes = count * sizeof(Bf16);
    const std::unique_ptr<PeerRanks> ranks = ranks_or_none(bytes);
    if (ranks == nullptr) {
        return;
    }
    std::mt19937_64 random(test_seed());
    std::array<std::unique_ptr<CudaGraph>, PeerRanks::count> graphs;
    for (const int rank : {1, 0}) {
        ranks->select(rank);
        graphs[std::size_t(rank)] = std::make_unique<CudaGraph>(ranks->queue(rank), [&](Queue queue) {
            for (int run = 0; run < 3; ++run) {
                ranks->all_reduce(rank, bytes, queue);
            }
        });
    }
    for (int replay = 0; replay < 2; ++replay) {
        const Numbers numbers = {random_numbers(random, count), random_numbers(random, count)};
        for (const int rank : {1, 0}) {
            ranks->select(rank);
            const Queue queue = ranks->queue(rank).queue();
            cuda_backend().upload(ranks->input(rank), numbers[std::size_t(rank)].data(), bytes, queue);
            graphs[std::size_t(rank)]->replay(queue);
        }
        ranks->wait();
        check_sums(*ranks, numbers);
    }
}

}  // namespace kernel_all_reduce_test
