// All-reduces of two ranks, which tensor parallelism needs twice a layer, from a decoded token's row to a prompt's rows.
#include <algorithm>

#include <fmt/format.h>

#include "calibrate/measure/kernel_case.h"
#include "numerics/random.h"

namespace treeline::calibrate {
namespace {

using kernels::Bf16;
using kernels::PeerRanks;

std::vector<Bf16> random_numbers(std::size_t count, std::uint64_t seed) {
    numerics::Random random(seed);
    std::vector<Bf16> numbers(count);
    std::generate(numbers.begin(), numbers.end(),
                  [&] { return kernels::to_bf16(static_cast<float>(2.0 * random.uniform() - 1.0)); });
    return numbers;
}

/// Throws KernelError where a rank's sums are not what the host adds up.
void check_sums(const PeerRanks& ranks, const std::vector<Bf16>& first, const std::vector<Bf16>& second) {
    std::vector<Bf16> sums(first.size());
    for (const int rank : {1, 0}) {
        ranks.select(rank);
        kernels::cuda_backend().download(sums.data(), ranks.sum(rank), sums.size() * sizeof(Bf16), ranks.queue(rank).queue());
        for (std::size_t i = 0; i < sums.size(); ++i) {
            if (sums[i].bits != kernels::to_bf16(kernels::to_float(first[i]) + kernels::to_float(second[i])).bits) {
                throw kernels::KernelError(fmt::format("number {} of rank {} is not the sum of both ranks' numbers", i, rank));
            }
        }
    }
}

/// Ranks with random numbers, whose first sum was checked against the host's.
std::shared_ptr<const PeerRanks> checked_ranks(std::size_t bytes) {
    auto ranks = std::make_shared<const PeerRanks>(bytes);
    const std::array numbers = {random_numbers(bytes / sizeof(Bf16), 1), random_numbers(bytes / sizeof(Bf16), 2)};
    for (const int rank : {1, 0}) {
        ranks->select(rank);
        const kernels::Queue queue = ranks->queue(rank).queue();
        kernels::cuda_backend().upload(ranks->input(rank), numbers[std::size_t(rank)].data(), bytes, queue);
        ranks->all_reduce(rank, bytes, queue);
    }
    ranks->wait();
    check_sums(*ranks, numbers[0], numbers[1]);
    return ranks;
}

KernelCase all_reduce_case(std::size_t bytes) {
    KernelCase result;
    result.table = "all_reduce";
    result.columns = {{"ranks", std::to_string(PeerRanks::count)}, {"bytes", std::to_string(bytes)}, {"dtype", "bf16"}};
    result.prepare_peers = [=] {
        std::shared_ptr<const PeerRanks> ranks = checked_ranks(bytes);
        return PeerRuns{ranks, [ranks, bytes](int rank, kernels::Queue queue) { ranks->all_reduce(rank, bytes, queue); }};
    };
    return result;
}

}  // namespace

std::vector<KernelCase> all_reduce_cases(const CaseOptions& options) {
    std::vector<KernelCase> cases;
    constexpr std::size_t least = std::size_t{4} << 10, most = std::size_t{64} << 20;
    const std::size_t factor = options.thoroughness == Thoroughness::quick ? 8 : 2;
    for (std::size_t bytes = least; options.on_gpu && bytes <= most; bytes *= factor) {
        cases.push_back(all_reduce_case(bytes));
    }
    return cases;
}

}  // namespace treeline::calibrate
