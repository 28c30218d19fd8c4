#include "sweeps/parallel.h"

#include <algorithm>
#include <thread>

namespace treeline::sweeps {

unsigned thread_count(unsigned requested) {
    if constexpr (!numerics::has_threads) {
        return 1;
    }
    return requested > 0 ? requested : std::max(1u, std::thread::hardware_concurrency());
}

void parallel_for(std::size_t count, unsigned threads, const std::function<void(std::size_t)>& work) {
    struct Nothing {};
    const std::function<Nothing(std::size_t)> produce = [&](std::size_t i) {
        work(i);
        return Nothing{};
    };
    ordered_pipeline<Nothing>(count, threads, produce, [](std::size_t, Nothing&) {});
}

}  // namespace treeline::sweeps
