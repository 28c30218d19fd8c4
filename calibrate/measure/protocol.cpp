#include "calibrate/measure/protocol.h"

#include <algorithm>
#include <thread>

#include "numerics/random.h"

namespace treeline::calibrate {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int most_long_visits = 10;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// What is known about a target.
struct Record {
    std::vector<Sample> samples;
    int visits = 0;
    double phase = 0.0;  ///< for a long target: when in the run it is due, 0 to 1
    bool is_impossible = false;
    bool is_known = false;  ///< well enough
};

class Run {
public:
    Run(Sentinel& sentinel, const std::vector<Target>& targets, const ProtocolOptions& options, const TargetSeen& target_seen)
        : sentinel_(sentinel),
          targets_(targets),
          options_(options),
          target_seen_(target_seen),
          records_(targets.size()),
          random_(options.seed),
          start_(Clock::now()) {
        std::vector<std::size_t> order;
        for (std::size_t i = 0; i < targets.size(); ++i) {
            if (targets[i].is_long) {
                order.push_back(i);
            }
        }
        random_.shuffle(order);
        for (std::size_t i = 0; i < order.size(); ++i) {
            records_[order[i]].phase = (static_cast<double>(i) + 0.5) / static_cast<double>(order.size());
        }
        long_targets_ = std::move(order);
    }

    [[nodiscard]] double seconds() const { return seconds_since(start_); }

    /// Whether there was anything to visit.
    bool pass() {
        PassRecord record{seconds(), sentinel_.read(), 0};
        std::vector<std::size_t> order;
        for (std::size_t i = 0; i < targets_.size(); ++i) {
            if (!targets_[i].is_long && wants_sample(records_[i])) {
                order.push_back(i);
            }
        }
        random_.shuffle(order);
        if (run_.passes.empty()) {
            std::stable_sort(order.begin(), order.end(),
                             [&](std::size_t a, std::size_t b) { return targets_[a].rank < targets_[b].rank; });
        }
        for (const std::size_t i : order) {
            if (wants_sample(records_[i])) {  // the time may have run out meanwhile
                visit(i);
                ++record.visits;
            }
            record.visits += visit_long_targets(seconds() / options_.seconds);
        }
        if (order.empty()) {  // nothing else to do meanwhile
            record.visits += visit_long_targets(1.0);
        }
        run_.passes.push_back(record);
        choose_typical();
        return record.visits > 0;
    }

    /// Visits what is hardly known in the typical state, whenever the machine is in it, until `end` (seconds).
    void fill_gaps(double end) {
        std::vector<std::size_t> lacking;
        for (std::size_t i = 0; i < targets_.size(); ++i) {
            if (!records_[i].is_impossible && is_lacking(records_[i])) {
                lacking.push_back(i);
            }
        }
        random_.shuffle(lacking);
        while (!lacking.empty() && seconds() < end) {
            for (std::size_t i = 0; i < lacking.size() && seconds() < end; ++i) {
                if (is_of_state(sentinel_.glance(), run_.typical, options_.limits)) {
                    visit(lacking[i]);
                } else {
                    std::this_thread::sleep_for(std::chrono::milliseconds(20));
                }
            }
            std::erase_if(lacking, [&](std::size_t i) { return records_[i].is_impossible || !is_lacking(records_[i]); });
        }
    }

    [[nodiscard]] std::vector<Measurement> measurements() const {
        std::vector<Measurement> result;
        for (std::size_t i = 0; i < targets_.size(); ++i) {
            const Record& record = records_[i];
            if (record.samples.empty()) {
                continue;
            }
            std::vector<const Sample*> samples = typical_samples(record);
            const bool drifted = samples.size() < static_cast<std::size_t>(options_.fewest_samples());
            if (drifted) {
                samples.clear();
                for (const Sample& sample : record.samples) {
                    samples.push_back(&sample);
                }
            }
            result.push_back(summary_of(targets_[i].index, samples));
            result.back().drifted = drifted;
        }
        return result;
    }

    ProtocolRun finish() {
        run_.measurements = measurements();
        for (const Record& record : records_) {
            run_.samples += record.samples.size();
            run_.samples_elsewhere += record.samples.size() - typical_samples(record).size();
        }
        return std::move(run_);
    }

private:
    void visit(std::size_t i) {
        Record& record = records_[i];
        std::vector<Sample> samples = targets_[i].visit(sentinel_);
        record.is_impossible = samples.empty();
        if (target_seen_ && record.visits == 0 && !samples.empty()) {
            target_seen_(summary_of(targets_[i].index, samples_in({}, samples, options_.limits)));
        }
        record.samples.insert(record.samples.end(), std::make_move_iterator(samples.begin()),
                              std::make_move_iterator(samples.end()));
        ++record.visits;
    }

    [[nodiscard]] bool wants_sample(const Record& record) const {
        return !record.is_impossible && !record.is_known && record.visits < options_.most_samples && !is_over() &&
               (record.visits < options_.least_samples || seconds() < options_.seconds);
    }

    [[nodiscard]] bool is_over() const { return seconds() >= options_.deadline; }

    /// Visits those that are due when this share of the time has passed; returns how many.
    std::size_t visit_long_targets(double share) {
        std::size_t visits = 0;
        for (const std::size_t i : long_targets_) {
            Record& record = records_[i];
            const bool is_first = record.visits == 0;
            const bool is_due = share >= (record.visits + record.phase) / most_long_visits || share >= 1.0;
            // Once each in any case; after that only as long as the others get half of the time.
            const bool has_time = is_first || (seconds() < options_.seconds && long_seconds_ < 0.5 * seconds());
            if (record.visits < most_long_visits && !record.is_impossible && is_due && has_time && !is_over()) {
                const double before = seconds();
                visit(i);
                long_seconds_ += seconds() - before;
                ++visits;
            }
        }
        return visits;
    }

    [[nodiscard]] std::vector<const Sample*> typical_samples(const Record& record) const {
        return samples_in(run_.typical, record.samples, options_.limits);
    }
    [[nodiscard]] bool is_lacking(const Record& record) const {
        return typical_samples(record).size() < static_cast<std::size_t>(options_.fewest_samples());
    }

    /// The state in which most targets have the samples that they need.
    void choose_typical() {
        std::vector<Conditions> seen = options_.earlier;
        for (const Record& record : records_) {
            for (const Sample& sample : record.samples) {
                seen.push_back(sample.before);
            }
        }
        run_.states = states_of(std::move(seen), options_.limits);
        double most = -1.0;
        for (const Conditions& state : run_.states) {
            const double known = coverage(state);
            if (known > most) {
                most = known;
                run_.typical = state;
            }
        }
        for (std::size_t i = 0; i < targets_.size(); ++i) {
            Record& record = records_[i];
            if (!targets_[i].is_long && record.visits >= options_.least_samples) {
                const std::vector<const Sample*> samples = typical_samples(record);
                record.is_known = static_cast<int>(samples.size()) >= options_.least_samples &&
                                  median_uncertainty(summary_of(i, samples)) <= options_.enough;
            }
        }
    }

    /// Number of targets known in this state, earlier runs included; a fraction for those with few samples.
    [[nodiscard]] double coverage(const Conditions& state) const {
        double known = 0.0;
        for (const Conditions& each : options_.earlier) {
            known += is_of_state(each, state, options_.limits) ? 1.0 : 0.0;
        }
        for (const Record& record : records_) {
            const auto samples = static_cast<double>(samples_in(state, record.samples, options_.limits).size());
            known += std::min(1.0, samples / options_.least_samples);
        }
        return known;
    }

    Sentinel& sentinel_;
    const std::vector<Target>& targets_;
    const ProtocolOptions& options_;
    const TargetSeen& target_seen_;
    std::vector<Record> records_;
    std::vector<std::size_t> long_targets_;  ///< in the order in which they are due
    double long_seconds_ = 0.0;
    numerics::Random random_;
    Clock::time_point start_;
    ProtocolRun run_;
};

}  // namespace

ProtocolRun measure(Sentinel& sentinel, const std::vector<Target>& targets, const ProtocolOptions& options,
                    const PassDone& pass_done, const TargetSeen& target_seen) {
    const double end = std::min(options.seconds * 7.0 / 6.0, options.deadline);
    Run run(sentinel, targets, options, target_seen);
    while (run.pass()) {
        pass_done(run.measurements(), std::min(run.seconds(), options.seconds), options.seconds);
    }
    run.fill_gaps(end);
    ProtocolRun result = run.finish();
    pass_done(result.measurements, options.seconds, options.seconds);
    return result;
}

}  // namespace treeline::calibrate
