// Implementation of ordered_pipeline (see sweeps/parallel.h).
#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <utility>

#include "numerics/team.h"
#include "sweeps/deadline.h"

namespace treeline::sweeps {

template <class Result>
void ordered_pipeline(std::size_t count, unsigned threads, const std::function<Result(std::size_t)>& produce,
                      const std::function<void(std::size_t, Result&)>& consume) {
    std::mutex mutex;
    std::condition_variable consumed;
    std::size_t next_to_consume = 0;
    std::exception_ptr failure;
    std::atomic<std::size_t> next_to_produce{0};
    const std::size_t window = 4 * static_cast<std::size_t>(threads);

    const auto worker = [&] {
        while (true) {
            const std::size_t index = next_to_produce.fetch_add(1);
            if (index >= count) {
                return;
            }
            {
                std::unique_lock lock(mutex);
                consumed.wait(lock, [&] { return failure || index < next_to_consume + window; });
                if (failure) {
                    return;
                }
            }
            try {
                check_deadline();
                Result result = produce(index);
                std::unique_lock lock(mutex);
                consumed.wait(lock, [&] { return failure || index == next_to_consume; });
                if (failure) {
                    return;
                }
                consume(index, result);
                ++next_to_consume;
            } catch (...) {
                const std::scoped_lock lock(mutex);
                if (!failure) {
                    failure = std::current_exception();
                }
            }
            consumed.notify_all();
        }
    };
    numerics::run_in_team(threads, worker);
    if (failure) {
        std::rethrow_exception(failure);
    }
}

}  // namespace treeline::sweeps
