#include "sweeps/deadline.h"

#include <optional>

namespace treeline::sweeps {
namespace {

using Clock = std::chrono::steady_clock;

thread_local std::optional<Clock::time_point> end_of_answer;

}  // namespace

Deadline::Deadline(std::chrono::milliseconds allowed) { end_of_answer = Clock::now() + allowed; }
Deadline::~Deadline() { end_of_answer.reset(); }

void check_deadline() {
    if (end_of_answer && Clock::now() > *end_of_answer) {
        throw DeadlinePassed();
    }
}

}  // namespace treeline::sweeps
