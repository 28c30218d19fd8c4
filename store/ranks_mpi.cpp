// Shares go to whoever asks. Rank 0 works, too, and answers between its tasks, which take a millisecond or so. What is kept is
// merged in the order of the shares, so that at any moment all below a certain task is done: that is what a store holds.
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <optional>
#include <thread>
#include <tuple>

#include "store/ranks.h"
#include "sweeps/bytes.h"

namespace treeline::store {
namespace {

constexpr int tag_done = 1, tag_share = 2;
constexpr std::uint64_t shares_of_rank = 64;  ///< how finely the work is cut

/// Waits a little, then longer: a process that waits for one that is busy must not keep a core busy itself.
class Patience {
public:
    void wait() {
        std::this_thread::sleep_for(pause_);
        pause_ = std::min(2 * pause_, longest);
    }

private:
    static constexpr std::chrono::microseconds longest{2000};
    std::chrono::microseconds pause_{50};
};

struct Share {
    std::uint64_t first = 0, last = 0;

    [[nodiscard]] bool empty() const { return first == last; }
};

int world_size() {
    int size = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return size;
}

int world_rank() {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

/// What a worker sends: a share, and what was kept of it. An empty share only asks for the first one.
std::string packed(const Share& share, const std::string& kept) {
    sweeps::ByteWriter out;
    out.put(share);
    return out.take() + kept;
}

/// The work that is left, and what is kept of the work that is done.
class Ledger {
public:
    Ledger(sweeps::SweepRun& run, const sweeps::SweepOptions& options, std::uint64_t share_tasks)
        : options_(&options), share_tasks_(share_tasks), total_(run.points()), kept_(run.nothing()) {
        std::tie(merged_, last_) = sweeps::tasks_of(options.part, run.tasks());
        if (options.resume) {
            merged_ = options.resume->next_task;
            kept_.merge(options.resume->kept);
        }
        next_ = merged_;
    }

    Share take() {
        const Share share{next_, std::min(last_, next_ + share_tasks_)};
        next_ = share.last;
        return share;
    }
    void done(const Share& share, std::string kept) {
        waiting_.emplace(share.first, std::pair(share.last, std::move(kept)));
        for (auto at = waiting_.find(merged_); at != waiting_.end(); at = waiting_.find(merged_)) {
            merged_ = at->second.first;
            kept_.merge(at->second.second);
            waiting_.erase(at);
        }
        const auto now = std::chrono::steady_clock::now();
        if (options_->save && (finished() || std::chrono::duration<double>(now - saved_).count() > options_->save_seconds)) {
            saved_ = now;
            options_->save({merged_, kept_.bytes()});
        }
        progress();
    }
    void progress() const {
        if (options_->progress) {
            options_->progress(kept_.seen, total_);
        }
    }
    [[nodiscard]] bool finished() const { return merged_ == last_; }
    [[nodiscard]] const sweeps::ReductionState& kept() const { return kept_; }

private:
    const sweeps::SweepOptions* options_;
    std::uint64_t share_tasks_, total_, merged_ = 0, next_ = 0, last_ = 0;
    sweeps::ReductionState kept_;
    std::map<std::uint64_t, std::pair<std::uint64_t, std::string>> waiting_;  ///< done, but something before is not
    std::chrono::steady_clock::time_point saved_ = std::chrono::steady_clock::now();
};

std::string run_share(sweeps::SweepRun& run, const Share& share) {
    sweeps::ReductionState state = run.nothing();
    run.run(share.first, share.last, state);
    return state.bytes();
}

/// Takes in one message of a worker and answers it. `idle`: workers that have been told that nothing is left.
bool serve_one(Ledger& ledger, int& idle) {
    int there = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, tag_done, MPI_COMM_WORLD, &there, &status);
    if (there == 0) {
        return false;
    }
    int size = 0;
    MPI_Get_count(&status, MPI_BYTE, &size);
    std::string message(static_cast<std::size_t>(size), '\0');
    MPI_Recv(message.data(), size, MPI_BYTE, status.MPI_SOURCE, tag_done, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sweeps::ByteReader in(std::string_view(message).substr(0, sizeof(Share)));
    const auto share = in.get<Share>();
    const Share next = ledger.take();
    MPI_Send(&next, sizeof next, MPI_BYTE, status.MPI_SOURCE, tag_share, MPI_COMM_WORLD);
    idle += next.empty() ? 1 : 0;
    if (!share.empty()) {
        ledger.done(share, message.substr(sizeof(Share)));
    }
    return true;
}

void work(sweeps::SweepRun& run) {
    const auto send = [](const std::string& message) {
        MPI_Send(message.data(), static_cast<int>(message.size()), MPI_BYTE, 0, tag_done, MPI_COMM_WORLD);
    };
    const auto receive = [] {
        Share share;
        MPI_Request request;
        MPI_Irecv(&share, sizeof share, MPI_BYTE, 0, tag_share, MPI_COMM_WORLD, &request);
        Patience patience;
        for (int done = 0; MPI_Test(&request, &done, MPI_STATUS_IGNORE), done == 0;) {
            patience.wait();  // not MPI_Wait, which would keep a core busy
        }
        return share;
    };
    send(packed({}, ""));
    for (Share share = receive(); !share.empty(); share = receive()) {
        send(packed(share, run_share(run, share)));
    }
}

sweeps::SweepOptions of_rank(const sweeps::SweepOptions& options) {
    sweeps::SweepOptions own = options;
    own.threads = std::max(1u, options.threads);
    own.resume.reset();
    own.save = nullptr;
    own.progress = nullptr;
    return own;
}

sweeps::SweepSummary lead(const sweeps::DesignSpace& space, const sweeps::SweepOptions& options) {
    const auto start = std::chrono::steady_clock::now();
    sweeps::SweepOptions own = of_rank(options);
    int idle = 0;
    const int workers = world_size() - 1;
    std::optional<Ledger> ledger;
    own.progress = [&](std::uint64_t, std::uint64_t) {  // between tasks of its own work rank 0 serves the others
        while (ledger && serve_one(*ledger, idle)) {}
        if (ledger) {
            ledger->progress();
        }
    };
    sweeps::SweepRun run(space, own);
    const std::uint64_t shares = shares_of_rank * static_cast<std::uint64_t>(world_size());
    ledger.emplace(run, options, std::max<std::uint64_t>(1, run.tasks() / shares));
    for (Share share = ledger->take(); !share.empty(); share = ledger->take()) {
        ledger->done(share, run_share(run, share));
    }
    Patience patience;
    while (!ledger->finished() || idle < workers) {
        if (serve_one(*ledger, idle)) {
            patience = {};
        } else {
            patience.wait();
            ledger->progress();
        }
    }
    sweeps::SweepSummary summary = run.summary(ledger->kept());
    summary.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return summary;
}

}  // namespace

int launched_ranks() {
    for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
        if (const char* size = std::getenv(name)) {
            return std::max(1, std::atoi(size));
        }
    }
    return 1;
}

std::string ranks_problem() { return ""; }

Ranks::Ranks() {
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
}

Ranks::~Ranks() {
    if (!ended_) {
        MPI_Abort(MPI_COMM_WORLD, 1);  // the others wait for shares that nobody hands out any more
    }
    MPI_Finalize();
}

bool Ranks::leads() const { return world_rank() == 0; }

sweeps::SweepSummary Ranks::run(const sweeps::DesignSpace& space, const sweeps::SweepOptions& options) {
    sweeps::SweepSummary summary;
    if (leads()) {
        summary = lead(space, options);
    } else {
        const sweeps::SweepOptions own = of_rank(options);
        sweeps::SweepRun run(space, own);
        work(run);
    }
    ended_ = true;
    return summary;
}

}  // namespace treeline::store
