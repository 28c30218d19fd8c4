#include "sweeps/adaptive/continuous_batching.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <queue>

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
    double prompt = 0.0;   ///< tokens
    double prefill = 0.0;  ///< seconds
    double ready = 0.0;    ///< when it may join: at once, or when others have read its prompt
    double joined = 0.0;
    double first_token = -1.0;  ///< time; negative before it

    [[nodiscard]] double cached() const { return prompt + tokens - left; }
};

/// On top of a heap: the request that may join first.
struct JoinsLater {
    bool operator()(const Request& a, const Request& b) const {
        return a.ready > b.ready || (a.ready == b.ready && a.number > b.number);
    }
};

/// What one repetition counted: requests after the warm-up, and rounds from the first of those requests to the arrival of the
/// last.
struct Tally {
    std::vector<double> wait, first_token, time_per_token, end_to_end;
    std::vector<double> rounds_by_setting;
    double seconds = 0.0, rounds = 0.0, sequence_rounds = 0.0, tokens = 0.0, request_seconds = 0.0;
    double decoding_seconds = 0.0, decoded_tokens = 0.0;
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

Request drawn_request(const Requests& requests, numerics::Random& random) {
    Request request;
    if (requests.classes.empty()) {
        request.tokens = output_tokens(requests, random);
        request.prefill = requests.prefill.value();
        return request;
    }
    double shares = 0.0;
    for (const RequestClass& each : requests.classes) {
        shares += each.share;
    }
    double left = random.uniform() * shares;
    std::size_t chosen = 0;
    while (chosen + 1 < requests.classes.size() && left >= requests.classes[chosen].share) {
        left -= requests.classes[chosen++].share;
    }
    const RequestClass& found = requests.classes[chosen];
    request.tokens = found.output_tokens;
    request.prompt = found.prompt_tokens;
    request.prefill = found.prefill.value();
    return request;
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
        for (int client = 0; client < requests_.clients; ++client) {
            send(0.0, 0.9 * coming_.uniform());
        }
        next_arrival_ =
            requests_.clients > 0 ? std::numeric_limits<double>::infinity() : coming_.exponential(requests_.per_second);
    }

    Tally run() {
        while (finished_ < size_.requests) {
            arrive_until(clock_);
            if (queue_.empty() && batch_.empty()) {
                idle();
            }
            const double prefill = admit();
            round(prefill);
        }
        return std::move(tally_);
    }

private:
    /// Whether requests arriving now are counted.
    [[nodiscard]] bool counting() const { return arrived_ > size_.warm_up && arrived_ <= size_.warm_up + size_.requests; }

    /// A request whose answer is written up to a share already.
    void send(double time, double written = 0.0) {
        Request request = drawn_request(requests_, coming_);
        request.number = arrived_++;
        request.arrival = time;
        request.left = std::max(1, request.tokens - static_cast<int>(written * request.tokens));
        request.ready = time + (requests_.prefill_apart ? request.prefill : 0.0);
        reading_.push(request);
    }

    /// Until something can join.
    void idle() {
        const double next = reading_.empty() ? next_arrival_ : std::min(next_arrival_, reading_.top().ready);
        if (counting()) {
            tally_.seconds += next - clock_;
        }
        clock_ = next;
        arrive_until(clock_);
        if (queue_.empty()) {
            idle();
        }
    }

    void arrive_until(double time) {
        while (next_arrival_ <= time) {
            send(next_arrival_);
            next_arrival_ += coming_.exponential(requests_.per_second);
        }
        while (!reading_.empty() && reading_.top().ready <= time) {
            queue_.push_back(reading_.top());
            reading_.pop();
        }
    }

    /// Returns how long the prompts of those who join take in their first round.
    double admit() {
        double prefill = 0.0;
        while (!queue_.empty() && batch_.size() < static_cast<std::size_t>(server_.capacity())) {
            queue_.front().joined = clock_;
            prefill += requests_.prefill_apart ? 0.0 : queue_.front().prefill;
            cached_ += queue_.front().cached();
            batch_.push_back(queue_.front());
            queue_.pop_front();
        }
        return prefill;
    }

    void round(double prefill) {
        const bool counts = counting();
        const std::size_t batch = batch_.size();
        const std::size_t setting = server_.schedule[batch - 1];
        const double mean_cached = cached_ / static_cast<double>(batch);
        const double takes = server_.settings[setting].round_of(static_cast<int>(batch), mean_cached).value() + prefill;
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
            cached_ += tokens;
            request.first_token = request.first_token < 0.0 ? clock_ : request.first_token;
            if (request.left > 0) {
                ++i;
                continue;
            }
            leave(request);
            request = batch_.back();
            batch_.pop_back();
        }
        return wanted;
    }

    void leave(const Request& request) {
        cached_ -= request.cached();
        record(request);
        if (requests_.clients > 0) {
            send(clock_);
        }
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
            tally_.decoding_seconds += clock_ - request.first_token;
            tally_.decoded_tokens += request.tokens - 1.0;
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
    std::priority_queue<Request, std::vector<Request>, JoinsLater> reading_;  ///< those who may not join yet
    std::deque<Request> queue_;
    std::vector<Request> batch_;
    double cached_ = 0.0;  ///< tokens of the batch
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
    const bool closed_form = requests.clients == 0 && requests.classes.empty();
    served.utilisation = closed_form ? requests.per_second / most_requests_per_second(server, requests) : 0.0;
    served.time_per_token_of_tokens = over([](const Tally& t) { return t.decoding_seconds / t.decoded_tokens; });
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
