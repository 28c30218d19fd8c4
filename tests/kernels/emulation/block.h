// The threads of the block that runs on a device: they take turns at random, each on a stack of its own.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "device_limits.h"
#include "fiber.h"
#include "grid.h"

namespace emulation {

// Constants in the eyes of a kernel (include/device_functions.h), so that reading them is no access to memory; grid.cpp has
// them.
extern uint3 thread_place asm("threadIdx");

inline constexpr unsigned warp_size = 32, most_threads = 1024;

enum class State : std::uint8_t { ready, at_barrier, at_collective, at_flag, ended };

/// How far a block, or a grid, got before none of its threads could go on.
enum class Progress : std::uint8_t { ended, between_blocks, awaits_other_device };

struct Thread {
    void* stack = nullptr;
    State state = State::ready;
    int line = 0;  ///< of the barrier or collective
    Collective kind{};
    std::uint32_t mask = 0, value = 0;  ///< `value` is brought to the collective, then what it returns
    unsigned distance = 0;
    Fragment* fragment = nullptr;
    std::vector<std::pair<void*, const void*>> copies;
    std::size_t copies_taken = 0;
    const unsigned* flag = nullptr;  ///< that it waits for
    unsigned flag_value = 0;
    uint3 place{};
};

/// As kernels compare them: flags only rise, and wrap around.
inline bool is_raised(const unsigned* flag, unsigned value) { return static_cast<int>(*flag - value) >= 0; }

inline float upper_half(std::uint32_t bits) { return std::bit_cast<float>(bits & 0xffff0000U); }

/// The matrices of mma.m16n8k16 as its lanes hold them: see kernels/cuda/warp_product.cuh.
inline void multiply(Fragment* const (&lanes)[warp_size]) {
    float a[16][16], b[16][8];
    for (unsigned lane = 0; lane < warp_size; ++lane) {
        const unsigned group = lane / 4, quad = lane % 4;
        for (unsigned i = 0; i < 4; ++i) {
            const unsigned row = group + i % 2 * 8, column = 2 * quad + i / 2 * 8;
            a[row][column] = upper_half(lanes[lane]->a[i] << 16);
            a[row][column + 1] = upper_half(lanes[lane]->a[i]);
        }
        for (unsigned i = 0; i < 2; ++i) {
            b[2 * quad + i * 8][group] = upper_half(lanes[lane]->b[i] << 16);
            b[2 * quad + i * 8 + 1][group] = upper_half(lanes[lane]->b[i]);
        }
    }
    for (unsigned row = 0; row < 16; ++row) {
        float products[8] = {};
        for (unsigned k = 0; k < 16; ++k) {
            for (unsigned column = 0; column < 8; ++column) {
                products[column] += a[row][k] * b[k][column];
            }
        }
        for (unsigned column = 0; column < 8; ++column) {
            lanes[row % 8 * 4 + column / 2]->sum[row / 8 * 2 + column % 2] += products[column];
        }
    }
}

/// The threads of the block that runs on a device.
class Block {
public:
    /// That whose thread runs; null while the host itself does.
    static Block* of_running_thread() { return running; }

    void start(const Launch& launch, unsigned number) {
        launch_ = &launch;
        number_ = number;
        passed_ = 0;
        count_ = launch.block.x * launch.block.y * launch.block.z;
        error_.reset();
        for (unsigned i = 0; i < count_; ++i) {
            threads_[i].stack = stacks_.fresh(i, &Block::entry);
            threads_[i].state = State::ready;
            threads_[i].copies.clear();
            threads_[i].copies_taken = 0;
        }
    }

    /// Runs it as far as it gets, which may take another device's block to go on in between.
    Progress advance() {
        while (!error_ && !all(State::ended)) {
            const bool moved = take_turns();
            if (!error_ && !moved && !pass_barrier()) {
                if (any(State::at_flag)) {
                    return Progress::awaits_other_device;
                }
                error_ = why_stuck();
            }
        }
        return Progress::ended;
    }
    [[nodiscard]] const std::optional<std::string>& error() const { return error_; }
    /// Ends it: nothing raises the flag that it waits for.
    void give_up(const std::string& reason) { error_ = reason; }

    [[noreturn]] void fail(const std::string& reason) {
        error_ = "thread " + std::to_string(at_) + " of block " + std::to_string(number_) + " " + reason;
        leave(State::ended);
        std::abort();  // nobody comes back to it
    }
    void wait_at_barrier(int line) {
        threads_[at_].line = line;
        leave(State::at_barrier);
    }
    void wait_for_flag(const unsigned* flag, unsigned value, int line) {
        Thread& self = threads_[at_];
        self.line = line;
        self.flag = flag;
        self.flag_value = value;
        while (!is_raised(flag, value)) {
            leave(State::at_flag);
        }
    }
    std::uint32_t join(Collective kind, std::uint32_t mask, std::uint32_t value, unsigned distance, int line) {
        Thread& self = threads_[at_];
        self.line = line;
        self.kind = kind;
        self.mask = mask;
        self.value = value;
        self.distance = distance;
        leave(State::at_collective);
        return self.value;
    }

    void join_product(Fragment& fragment, int line) {
        threads_[at_].fragment = &fragment;
        join(Collective::product, 0xffffffffU, 0, 0, line);
    }
    void note_copy(void* to, const void* from) { threads_[at_].copies.emplace_back(to, from); }
    bool take_copy(void*& to, const void*& from) {
        Thread& self = threads_[at_];
        if (self.copies_taken == self.copies.size()) {
            self.copies.clear();
            self.copies_taken = 0;
            return false;
        }
        std::tie(to, from) = self.copies[self.copies_taken++];
        return true;
    }

    [[nodiscard]] Toucher toucher() const { return {launch_number_, number_, passed_, at_}; }
    /// That its threads have had so far.
    [[nodiscard]] unsigned long long turns() const { return turns_; }
    [[nodiscard]] int device() const { return launch_->device; }
    [[nodiscard]] bool is_on_stack(const void* address) const { return stacks_.holds(address); }
    void next_launch(const dim3& size) {
        launch_number_ = ++launches;
        for (unsigned i = 0; i < size.x * size.y * size.z; ++i) {
            threads_[i].place = {i % size.x, i / size.x % size.y, i / size.x / size.y};
        }
    }

private:
    static void entry();

    [[nodiscard]] bool any(State state) const {
        return std::any_of(threads_.begin(), threads_.begin() + count_, [=](const Thread& t) { return t.state == state; });
    }
    [[nodiscard]] bool all(State state) const {
        return std::all_of(threads_.begin(), threads_.begin() + count_, [=](const Thread& t) { return t.state == state; });
    }

    void resume(unsigned thread) {
        at_ = thread;
        thread_place = threads_[thread].place;
        running = this;
        ++turns_;
        emulation_switch_stack(&host_stack_, threads_[thread].stack);
        running = nullptr;
    }
    [[nodiscard]] static bool can_go_on(const Thread& thread) {
        return thread.state == State::ready || (thread.state == State::at_flag && is_raised(thread.flag, thread.flag_value));
    }
    void leave(State state) {
        threads_[at_].state = state;
        emulation_switch_stack(&threads_[at_].stack, host_stack_);
    }

    /// Lets warps run, in random order, as far as they get; whether any thread did.
    bool take_turns() {
        const unsigned warps = (count_ + warp_size - 1) / warp_size;
        order_.clear();
        for (unsigned warp = 0; warp < warps; ++warp) {
            order_.push_back(warp);
        }
        std::shuffle(order_.begin(), order_.end(), random_);
        bool moved = false;
        for (const unsigned warp : order_) {
            moved = run_warp(warp * warp_size) || moved;
        }
        return moved;
    }

    bool run_warp(unsigned first) {
        const unsigned lanes = std::min(warp_size, count_ - first);
        bool moved = false;
        do {
            // Each lane once, from a random one on at a random odd distance.
            const auto draw = static_cast<unsigned>(random_());
            for (unsigned i = 0; i < warp_size; ++i) {
                const unsigned lane = (draw + i * (draw >> 8 | 1U)) % warp_size;
                if (lane < lanes && can_go_on(threads_[first + lane])) {
                    resume(first + lane);
                    moved = true;
                }
                if (error_) {
                    return true;
                }
            }
            // Now and then another warp goes first.
        } while (complete_collective(first, lanes) && random_() % 16 != 0);
        return moved;
    }

    /// Gives each lane of a collective its value once all of them are there.
    bool complete_collective(unsigned first, unsigned lanes) {
        const auto waiting = std::find_if(threads_.begin() + first, threads_.begin() + first + lanes,
                                          [](const Thread& t) { return t.state == State::at_collective; });
        if (waiting == threads_.begin() + first + lanes) {
            return false;
        }
        const Thread& one = *waiting;
        std::uint32_t values[warp_size] = {}, ballot = 0;
        for (unsigned lane = 0; lane < warp_size; ++lane) {
            const bool named = (one.mask >> lane & 1U) != 0;
            const bool there = lane < lanes && threads_[first + lane].state == State::at_collective;
            const bool same = there && threads_[first + lane].mask == one.mask && threads_[first + lane].kind == one.kind &&
                              threads_[first + lane].line == one.line;
            if (named && !same) {
                return false;
            }
            values[lane] = named ? threads_[first + lane].value : 0;
            ballot |= named && values[lane] != 0 ? 1U << lane : 0U;
        }
        if (one.kind == Collective::product) {
            Fragment* fragments[warp_size];
            for (unsigned lane = 0; lane < warp_size; ++lane) {
                fragments[lane] = threads_[first + lane].fragment;
                threads_[first + lane].state = State::ready;
            }
            multiply(fragments);
            return true;
        }
        for (unsigned lane = 0; lane < lanes; ++lane) {
            Thread& thread = threads_[first + lane];
            if ((one.mask >> lane & 1U) != 0) {
                thread.value = result(thread, lane, values, ballot);
                thread.state = State::ready;
            }
        }
        return true;
    }

    std::uint32_t result(const Thread& thread, unsigned lane, const std::uint32_t* values, std::uint32_t ballot) {
        if (thread.kind == Collective::ballot) {
            return ballot;
        }
        unsigned source = lane;
        if (thread.kind == Collective::shuffle_xor) {
            source = lane ^ thread.distance;
        } else if (thread.distance <= lane) {
            source = lane - thread.distance;
        }
        if (source >= warp_size || (thread.mask >> source & 1U) == 0) {
            error_ = "a shuffle in line " + std::to_string(thread.line) + " reads a lane that does not take part";
            return 0;
        }
        return values[source];
    }

    /// Whether all threads stood at one barrier, and go on.
    bool pass_barrier() {
        const bool together =
            all(State::at_barrier) && std::all_of(threads_.begin(), threads_.begin() + count_,
                                                  [&](const Thread& t) { return t.line == threads_[0].line; });
        for (unsigned i = 0; together && i < count_; ++i) {
            threads_[i].state = State::ready;
        }
        passed_ += together ? 1 : 0;
        return together;
    }

    [[nodiscard]] std::string place_of(unsigned thread) const {
        const Thread& at = threads_[thread];
        const std::string line = " in line " + std::to_string(at.line);
        return "thread " + std::to_string(thread) +
               (at.state == State::ended        ? std::string(" has ended")
                : at.state == State::at_barrier ? " is at the barrier" + line
                : at.state == State::at_flag    ? " waits for a flag" + line
                                                : " waits in a warp's collective" + line);
    }
    [[nodiscard]] std::string why_stuck() const {
        std::string text = "block " + std::to_string(number_) + " would hang: " + place_of(0);
        for (unsigned i = 1; i < count_; ++i) {
            if (threads_[i].state != threads_[0].state || threads_[i].line != threads_[0].line) {
                return text + ", " + place_of(i);
            }
        }
        return text;
    }

    Stacks stacks_{most_threads};
    std::vector<Thread> threads_{most_threads};
    std::vector<unsigned> order_;
    std::mt19937 random_{static_cast<std::mt19937::result_type>(seed())};
    const Launch* launch_ = nullptr;
    std::optional<std::string> error_;
    void* host_stack_ = nullptr;
    unsigned count_ = 0, number_ = 0, at_ = 0, passed_ = 0, launch_number_ = 0;

    unsigned long long turns_ = 0;

    static inline unsigned launches = 0;  ///< of all devices
    static inline Block* running = nullptr;
};

inline Block& block_of(int device) {
    static std::array<Block*, most_devices> blocks{};
    Block*& block = blocks[static_cast<std::size_t>(device)];
    if (block == nullptr) {
        block = new Block;
    }
    return *block;
}

/// Of whose code calls it.
inline Block& block() { return *Block::of_running_thread(); }

inline void Block::entry() {
    // On the thread's own stack, where it may do what it likes with its parameters.
    alignas(16) std::byte arguments[most_argument_bytes];
    const Launch& launch = *block().launch_;
    std::copy(launch.arguments.begin(), launch.arguments.end(), arguments);
    launch.call(launch.function, arguments);
    block().leave(State::ended);
}

}  // namespace emulation
