#include "sweeps/adaptive/continuous_batching.h"

#include <algorithm>
#include <cmath>
#include <deque>

#include "numerics/random.h"
#include "sweeps/adaptive/repetitions.h"
#include "sweeps/parallel.h"

namespace treeline::sweeps {
namespace {

struct Request {
    std::int64_t number = 0;  ///< in the order of arrival
    double arrival = 0.0;
    int tokens = 1;
    int left = 1;
    double joined = 0.0;
    double first_token = -1.0;  ///< time; negative before it
};

/// What one repetition counted: requests after the warm-up, and rounds from the first of those requests to the arrival of the
/// last.
struct Tally {
    std::vector<double> wait, first_token, time_per_token, end_to_end;
    std::vector<double> rounds_by_setting;
    double seconds = 0.0, rounds = 0.0, sequence_rounds = 0.0, tokens = 0.0, request_seconds = 0.0;
};

int output_tokens(const Requests& requests, numerics::Random& random) {
    if (requests.length == OutputLength::fixed) {
        return static_cast<int>(requests.output_tokens);
    }
    if (requests.output_tokens <= 1.0) {
        return 1;
    }
    return random.geometric(requests.output_tokens);
}

/// One repetition, round by round.
class Serving {
public:
    Serving(const BatchServer& server, const Requests& requests, const SimulationSize& size, std::uint64_t repetition)
        : server_(server),
          requests_(requests),
          size_(size),
          coming_(size.seed, 2 * repetition),
          verifying_(size.seed, 2 * repetition + 1) {
        for (const SpeculationSetting& setting : server.settings) {
            accepted_.emplace_back(setting.accepted_exactly);
        }
        tally_.rounds_by_setting.assign(server.settings.size(), 0.0);
        next_arrival_ = coming_.exponential(requests_.per_second);
    }

    Tally run() {
        while (finished_ < size_.requests) {
            if (queue_.empty() && batch_.empty()) {
                idle();
            }
            const int joined = admit();
            round(joined);
        }
        return std::move(tally_);
    }

private:
    /// Whether requests arriving now are counted.
    [[nodiscard]] bool counting() const { return arrived_ > size_.warm_up && arrived_ <= size_.warm_up + size_.requests; }

    void idle() {
        if (counting()) {
            tally_.seconds += next_arrival_ - clock_;
        }
        clock_ = next_arrival_;
        arrive_until(clock_);
    }

    void arrive_until(double time) {
        while (next_arrival_ <= time) {
            const int tokens = output_tokens(requests_, coming_);
            queue_.push_back({arrived_++, next_arrival_, tokens, tokens});
            next_arrival_ += coming_.exponential(requests_.per_second);
        }
    }

    int admit() {
        int joined = 0;
        while (!queue_.empty() && batch_.size() < static_cast<std::size_t>(server_.capacity())) {
            queue_.front().joined = clock_;
            batch_.push_back(queue_.front());
            queue_.pop_front();
            ++joined;
        }
        return joined;
    }

    void round(int joined) {
        const bool counts = counting();
        const std::size_t batch = batch_.size();
        const std::size_t setting = server_.schedule[batch - 1];
        const double takes =
            server_.settings[setting].round_of(static_cast<int>(batch)).value() + joined * requests_.prefill.value();
        const std::size_t waiting = queue_.size();
        clock_ += takes;
        arrive_until(clock_);
        const int tokens = advance(accepted_[setting]);
        if (!counts) {
            return;
        }
        tally_.seconds += takes;
        tally_.rounds += 1.0;
        tally_.rounds_by_setting[setting] += 1.0;
        tally_.sequence_rounds += static_cast<double>(batch);
        tally_.tokens += tokens;
        tally_.request_seconds += takes * static_cast<double>(batch + waiting);
        for (std::size_t i = waiting; i < queue_.size(); ++i) {
            tally_.request_seconds += clock_ - queue_[i].arrival;
        }
    }

    /// Gives every sequence of the batch its tokens; returns how many were wanted.
    int advance(const numerics::CountDistribution& accepted) {
        int wanted = 0;
        for (std::size_t i = 0; i < batch_.size();) {
            Request& request = batch_[i];
            const int tokens = std::min(request.left, 1 + verifying_.draw(accepted));
            wanted += tokens;
            request.left -= tokens;
            request.first_token = request.first_token < 0.0 ? clock_ : request.first_token;
            if (request.left > 0) {
                ++i;
                continue;
            }
            record(request);
            request = batch_.back();
            batch_.pop_back();
        }
        return wanted;
    }

    void record(const Request& request) {
        if (request.number < size_.warm_up || request.number >= size_.warm_up + size_.requests) {
            return;
        }
        ++finished_;
        tally_.wait.push_back(request.joined - request.arrival);
        tally_.first_token.push_back(request.first_token - request.arrival);
        tally_.end_to_end.push_back(clock_ - request.arrival);
        if (request.tokens > 1) {
            tally_.time_per_token.push_back((clock_ - request.first_token) / (request.tokens - 1.0));
        }
    }

    const BatchServer& server_;
    const Requests& requests_;
    const SimulationSize& size_;
    /// Arrivals and lengths have a stream apart from acceptance: every schedule sees the same requests, so differences are due
    /// to the schedules.
    numerics::Random coming_, verifying_;
    std::vector<numerics::CountDistribution> accepted_;
    Tally tally_;
    std::deque<Request> queue_;
    std::vector<Request> batch_;
    double clock_ = 0.0, next_arrival_ = 0.0;
    std::int64_t arrived_ = 0, finished_ = 0;
};

}  // namespace

double most_requests_per_second(const BatchServer& server, const Requests& requests) {
    const SpeculationSetting& setting = server.settings[server.schedule.back()];
    const double rounds = mean_rounds(setting, requests);
    const Seconds each = setting.round_of(server.capacity()) * (rounds / server.capacity()) + requests.prefill;
    return 1.0 / each.value();
}

ServedTraffic simulate_serving(const BatchServer& server, const Requests& requests, const SimulationSize& size,
                               double confidence) {
    std::vector<Tally> tallies(static_cast<std::size_t>(size.repetitions));
    parallel_for(tallies.size(), thread_count(size.threads),
                 [&](std::size_t i) { tallies[i] = Serving(server, requests, size, i).run(); });
    const auto over = [&](auto figure) { return interval_over(tallies, confidence, figure); };
    ServedTraffic served;
    served.utilisation = requests.per_second / most_requests_per_second(server, requests);
    served.tokens_per_second = over([](const Tally& t) { return t.tokens / t.seconds; });
    served.mean_batch = over([](const Tally& t) { return t.sequence_rounds / t.rounds; });
    served.requests_in_system = over([](const Tally& t) { return t.request_seconds / t.seconds; });
    served.wait = latency_over(tallies, confidence, &Tally::wait);
    served.first_token = latency_over(tallies, confidence, &Tally::first_token);
    served.time_per_token = latency_over(tallies, confidence, &Tally::time_per_token);
    served.end_to_end = latency_over(tallies, confidence, &Tally::end_to_end);
    double rounds = 0.0;
    served.setting_share.assign(server.settings.size(), 0.0);
    for (const Tally& tally : tallies) {
        rounds += tally.rounds;
        for (std::size_t i = 0; i < served.setting_share.size(); ++i) {
            served.setting_share[i] += tally.rounds_by_setting[i];
        }
    }
    for (double& share : served.setting_share) {
        share /= rounds;
    }
    return served;
}

}  // namespace treeline::sweeps
