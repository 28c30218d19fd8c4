// Work ends after its deadline, and only the work of the thread that set it.
#include <catch2/catch.hpp>

#include <chrono>
#include <thread>

#include "sweeps/deadline.h"
#include "sweeps/parallel.h"

namespace deadline_test {

using namespace treeline::sweeps;
using namespace std::chrono_literals;

namespace {

std::size_t steps_done(std::chrono::milliseconds allowed) {
    std::size_t steps = 0;
    const Deadline deadline(allowed);
    try {
        parallel_for(200, 1, [&](std::size_t) {
            ++steps;
            std::this_thread::sleep_for(1ms);
        });
    } catch (const DeadlinePassed&) {}
    return steps;
}

}  // namespace

TEST_CASE("work on one thread ends at the step after its deadline") {
    CHECK(steps_done(20ms) < 25);
    CHECK(steps_done(60s) == 200);
}

TEST_CASE("a deadline is its thread's, and ends with its object") {
    {
        const Deadline deadline(0ms);
        std::this_thread::sleep_for(1ms);
        CHECK_THROWS_AS(check_deadline(), DeadlinePassed);
        bool other_thread_goes_on = false;
        std::thread([&] {
            check_deadline();
            other_thread_goes_on = true;
        }).join();
        CHECK(other_thread_goes_on);
    }
    CHECK_NOTHROW(check_deadline());
}

}  // namespace deadline_test
