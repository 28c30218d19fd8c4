// A limit on the time of an answer, for those who answer others (serve/).
#pragma once

#include <chrono>
#include <stdexcept>

namespace treeline::sweeps {

/// The answer would take longer than it may.
struct DeadlinePassed : std::runtime_error {
    DeadlinePassed() : std::runtime_error("this takes longer than an answer may") {}
};

/// While one lives, work that its thread does ends with DeadlinePassed after `allowed`, at the next step where it looks.
/// Nothing that the thread hands to others ends: it is for answers on one thread.
class Deadline {
public:
    explicit Deadline(std::chrono::milliseconds allowed);
    ~Deadline();
    Deadline(const Deadline&) = delete;
    Deadline& operator=(const Deadline&) = delete;
};

/// Where long work looks. Throws DeadlinePassed.
void check_deadline();

}  // namespace treeline::sweeps
