#include "grid.h"

#include <array>
#include <random>
#include <utility>

#include "block.h"
#include "device_limits.h"
#include "shared_memory.h"
#include "streams.h"

namespace emulation {
// Constants in the eyes of a kernel (include/device_functions.h), so that reading them is no access to memory; set here.
uint3 thread_place asm("threadIdx"), block_place asm("blockIdx");
uint3 block_size asm("blockDim"), grid_size asm("gridDim");

namespace {

/// Whether chance lets the other device go further than it must: of `ways` one.
bool by_chance(unsigned ways) {
    static std::minstd_rand random(static_cast<std::minstd_rand::result_type>(seed() | 1U));
    return random() % ways == 0;
}

/// A launch on its way.
class Grid {
public:
    explicit Grid(const Launch& launch) : launch_(launch), block_(block_of(launch.device)) { block_.next_launch(launch.block); }

    [[nodiscard]] bool is_done() const { return error_.has_value() || number_ == count(); }
    [[nodiscard]] const std::optional<std::string>& error() const { return error_; }
    [[nodiscard]] unsigned long long turns() const { return block_.turns(); }

    /// Runs blocks until all are done, one waits for the other device, or it is the other's turn, and says which.
    Progress advance() {
        SharedMemory& shared = SharedMemory::of(launch_.function);
        while (!is_done()) {
            place_block();
            if (!std::exchange(started_, true)) {
                shared.start_block(launch_.shared_bytes);
                block_.start(launch_, number_);
                uses_shared_ = false;
            }
            const std::uint64_t writes = shared.writes();
            const Progress progress = block_.advance();
            uses_shared_ = uses_shared_ || shared.writes() != writes;
            if (progress == Progress::awaits_other_device && !uses_shared_) {
                return progress;
            }
            finish_block(shared, progress);
            if (!is_done() && by_chance(4)) {
                return Progress::between_blocks;
            }
        }
        return Progress::ended;
    }

    void give_up() {
        fail("block " + std::to_string(number_) + " would hang: it waits for a flag that no work of the other device raises");
    }

private:
    [[nodiscard]] unsigned count() const { return launch_.grid.x * launch_.grid.y * launch_.grid.z; }

    void place_block() const {
        const dim3& grid = launch_.grid;
        grid_size = {grid.x, grid.y, grid.z};
        block_size = {launch_.block.x, launch_.block.y, launch_.block.z};
        block_place = {number_ % grid.x, number_ / grid.x % grid.y, number_ / grid.x / grid.y};
    }

    void finish_block(const SharedMemory& shared, Progress progress) {
        started_ = false;
        const std::size_t bytes = shared.declared_bytes();
        if (block_.error()) {
            fail(*block_.error());
        } else if (progress == Progress::awaits_other_device) {
            fail("waits for another device while it uses shared memory, of which the emulation has one block's");
        } else if (number_ == 0 && bytes + launch_.shared_bytes > launch_.granted_bytes) {
            fail("it takes " + std::to_string(bytes) + " bytes of shared memory and asks for " +
                 std::to_string(launch_.shared_bytes) + ", but is granted " + std::to_string(launch_.granted_bytes));
        }
        ++number_;
    }

    void fail(const std::string& reason) {
        error_ = launch_.kernel + ": " + reason + " (TREELINE_TEST_SEED=" + std::to_string(seed()) + ")";
    }

    const Launch& launch_;
    Block& block_;
    unsigned number_ = 0;
    bool started_ = false, uses_shared_ = false;
    std::optional<std::string> error_;
};

/// The launches on their way, by device.
std::array<Grid*, most_devices> grids{};

/// Lets the other device go on, whose launch is on its way or whose next work begins; false where there is neither.
bool advance_other(int device) {
    const int other = most_devices - 1 - device;
    Grid* const begun = grids[static_cast<std::size_t>(other)];
    if (begun == nullptr || begun->is_done()) {
        return run_next_work(other);
    }
    const unsigned long long before = begun->turns();
    begun->advance();
    return begun->turns() != before;
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
    Grid grid(launch);
    Grid*& on_device = grids[static_cast<std::size_t>(launch.device)];
    Grid* const below = std::exchange(on_device, &grid);
    for (Progress progress = grid.advance(); progress != Progress::ended; progress = grid.advance()) {
        bool moved = advance_other(launch.device);
        if (!moved && progress == Progress::awaits_other_device) {
            grid.give_up();
        }
        while (moved && by_chance(2)) {
            moved = advance_other(launch.device);
        }
    }
    on_device = below;
    return grid.error();
}

std::optional<Toucher> running_thread() {
    const Block* running = Block::of_running_thread();
    return running != nullptr ? std::optional(running->toucher()) : std::nullopt;
}
int running_device() { return block().device(); }
bool is_on_stack(const void* address) { return block().is_on_stack(address); }
void fail(const std::string& reason) { block().fail(reason); }

void wait_for_flag(const unsigned* flag, unsigned value, int line) { block().wait_for_flag(flag, value, line); }

void barrier(int line) { block().wait_at_barrier(line); }
std::uint32_t collective(Collective kind, std::uint32_t mask, std::uint32_t value, unsigned distance, int line) {
    return block().join(kind, mask, value, distance, line);
}
void warp_product(Fragment& fragment, int line) { block().join_product(fragment, line); }
void note_copy(void* to, const void* from) { block().note_copy(to, from); }
bool take_copy(void*& to, const void*& from) { return block().take_copy(to, from); }

}  // namespace emulation
