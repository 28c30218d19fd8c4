#include "grid.h"

#include <algorithm>
#include <cstdlib>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include "device_limits.h"
#include "fiber.h"
#include "shared_memory.h"

namespace emulation {
// Constants in the eyes of a kernel (include/device_functions.h), so that reading them is no access to memory; set here.
uint3 thread_place asm("threadIdx"), block_place asm("blockIdx");
uint3 block_size asm("blockDim"), grid_size asm("gridDim");

namespace {

constexpr unsigned warp_size = 32, most_threads = 1024;

enum class State : std::uint8_t { ready, at_barrier, at_collective, ended };

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
    uint3 place{};
};

float upper_half(std::uint32_t bits) { return std::bit_cast<float>(bits & 0xffff0000U); }

/// The matrices of mma.m16n8k16 as its lanes hold them: see kernels/cuda/warp_product.cuh.
void multiply(Fragment* const (&lanes)[warp_size]) {
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

/// The threads of the block that runs.
class Block {
public:
    std::optional<std::string> run(const Launch& launch, unsigned number) {
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
        while (!error_ && !all(State::ended)) {
            const bool moved = take_turns();
            if (!error_ && !moved && !pass_barrier()) {
                error_ = why_stuck();
            }
        }
        return error_;
    }

    [[noreturn]] void fail(const std::string& reason) {
        error_ = "thread " + std::to_string(at_) + " of block " + std::to_string(number_) + " " + reason;
        leave(State::ended);
        std::abort();  // nobody comes back to it
    }
    void wait_at_barrier(int line) {
        threads_[at_].line = line;
        leave(State::at_barrier);
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

    [[nodiscard]] Toucher toucher() const { return {launches_, number_, passed_, at_}; }
    [[nodiscard]] bool runs() const { return runs_; }
    [[nodiscard]] bool is_on_stack(const void* address) const { return stacks_.holds(address); }
    void next_launch(const dim3& size) {
        ++launches_;
        for (unsigned i = 0; i < size.x * size.y * size.z; ++i) {
            threads_[i].place = {i % size.x, i / size.x % size.y, i / size.x / size.y};
        }
    }

private:
    static void entry();

    [[nodiscard]] bool all(State state) const {
        return std::all_of(threads_.begin(), threads_.begin() + count_, [=](const Thread& t) { return t.state == state; });
    }

    void resume(unsigned thread) {
        at_ = thread;
        thread_place = threads_[thread].place;
        runs_ = true;
        emulation_switch_stack(&host_stack_, threads_[thread].stack);
        runs_ = false;
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
                if (lane < lanes && threads_[first + lane].state == State::ready) {
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
    unsigned count_ = 0, number_ = 0, at_ = 0, passed_ = 0, launches_ = 0;
    bool runs_ = false;
};

Block& block() {
    static Block* only = new Block;
    return *only;
}

void Block::entry() {
    // On the thread's own stack, where it may do what it likes with its parameters.
    alignas(16) std::byte arguments[most_argument_bytes];
    const Launch& launch = *block().launch_;
    std::copy(launch.arguments.begin(), launch.arguments.end(), arguments);
    launch.call(launch.function, arguments);
    block().leave(State::ended);
}

}  // namespace

std::uint64_t seed() {
    static const std::uint64_t drawn = [] {
        const char* given = std::getenv("TREELINE_TEST_SEED");
        return given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
    }();
    return drawn;
}

std::optional<std::string> run(const Launch& launch) {
    SharedMemory& shared = SharedMemory::of(launch.function);
    grid_size = {launch.grid.x, launch.grid.y, launch.grid.z};
    block_size = {launch.block.x, launch.block.y, launch.block.z};
    block().next_launch(launch.block);
    unsigned number = 0;
    std::optional<std::string> error;
    for (unsigned z = 0; z < launch.grid.z; ++z) {
        for (unsigned y = 0; y < launch.grid.y; ++y) {
            for (unsigned x = 0; x < launch.grid.x; ++x) {
                block_place = {x, y, z};
                shared.start_block(launch.shared_bytes);
                error = block().run(launch, number++);
                if (!error && number == 1 && shared.declared_bytes() + launch.shared_bytes > launch.granted_bytes) {
                    error = "it takes " + std::to_string(shared.declared_bytes()) + " bytes of shared memory and asks for " +
                            std::to_string(launch.shared_bytes) + ", but is granted " + std::to_string(launch.granted_bytes);
                }
                if (error) {
                    return launch.kernel + ": " + *error + " (TREELINE_TEST_SEED=" + std::to_string(seed()) + ")";
                }
            }
        }
    }
    return error;
}

std::optional<Toucher> running_thread() { return block().runs() ? std::optional(block().toucher()) : std::nullopt; }
bool is_on_stack(const void* address) { return block().is_on_stack(address); }
void fail(const std::string& reason) { block().fail(reason); }

void barrier(int line) { block().wait_at_barrier(line); }
std::uint32_t collective(Collective kind, std::uint32_t mask, std::uint32_t value, unsigned distance, int line) {
    return block().join(kind, mask, value, distance, line);
}
void warp_product(Fragment& fragment, int line) { block().join_product(fragment, line); }
void note_copy(void* to, const void* from) { block().note_copy(to, from); }
bool take_copy(void*& to, const void*& from) { return block().take_copy(to, from); }

}  // namespace emulation
