#include "decoder/decode.h"

#include <algorithm>
#include <chrono>

#include "decoder/drafting.h"
#include "decoder/given_acceptance.h"
#include "decoder/phases.h"
#include "decoder/random_fill.h"
#include "decoder/verifier.h"
#include "numerics/random.h"

namespace treeline::decoder {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Which random numbers a seed stands for.
enum class Stream : std::uint64_t { target_weights, drafter_weights, prompts, contexts, acceptance };

std::uint64_t stream_seed(const DecodeSetup& setup, Stream stream) {
    return numerics::seed_of(setup.seed, static_cast<std::uint64_t>(stream));
}

Batch batch_of(const DecodeSetup& setup) {
    Batch batch;
    batch.sequences = setup.batch;
    batch.tree_tokens = setup.tree.verified_tokens();
    const VerifyLayout layout = verify_layout(setup.verification, setup.tree);
    const int verified = setup.rollback == sim::Rollback::joint ? Joint::most_rows(layout, setup.tree.depth()) : layout.rows;
    batch.longest_text = setup.context_tokens + setup.prompt_tokens + setup.new_tokens;
    batch.positions = batch.longest_text + verified;
    batch.fixed_shapes = setup.device == DeviceKind::cuda && setup.graphs != GraphUse::none;
    batch.cuts_contexts = setup.device == DeviceKind::cuda;
    return batch;
}

std::vector<Text> random_prompts(const DecodeSetup& setup) {
    numerics::Random random(stream_seed(setup, Stream::prompts));
    std::vector<Text> texts(static_cast<std::size_t>(setup.batch));
    for (Text& text : texts) {
        text.offset = setup.context_tokens;
        for (int i = 0; i < setup.prompt_tokens; ++i) {
            text.tokens.push_back(random.below(static_cast<int>(setup.target.vocabulary_size)));
        }
    }
    return texts;
}

/// One decoding run, from weights to the last token.
class Run {
public:
    explicit Run(const DecodeSetup& setup)
        : setup_(setup),
          batch_(batch_of(setup)),
          device_(open_device(setup.device, setup.device_index, setup.graphs)),
          memory_(device_->backend(), device_->queue()),
          table_(memory_),
          reader_(batch_, table_),
          target_weights_(random_weights(setup.target, setup.elements, stream_seed(setup, Stream::target_weights), memory_)),
          drafter_weights_(weights_of_drafter()),
          weight_bytes_(memory_.bytes()),
          verifier_(setup_, batch_, target_weights_, memory_, table_, PromptReader::most_rows(batch_, setup.prompt_tokens)),
          drafting_(make_drafting()),
          texts_(random_prompts(setup)),
          random_(stream_seed(setup, Stream::acceptance)) {
        result_.tokens.resize(texts_.size());
        result_.rounds_by_accepted.resize(static_cast<std::size_t>(setup.tree.depth()) + 1);
        result_.device = device_->name();
        result_.weight_bytes = weight_bytes_;
        result_.notes = simplifications(setup.target);
        if (const auto* own = std::get_if<OwnModel>(&setup.drafter)) {
            const std::vector<std::string> more = simplifications(own->model);
            result_.notes.insert(result_.notes.end(), more.begin(), more.end());
        }
    }

    DecodeResult decode(const std::function<void()>& between_rounds) {
        read_prompts();
        between_rounds();
        std::vector<Outcome> outcomes;
        while (!done()) {
            outcomes = round(outcomes);
            between_rounds();
        }
        result_.peak_bytes = memory_.bytes();
        return std::move(result_);
    }

private:
    NetworkWeights weights_of_drafter() {
        if (const auto* shared = std::get_if<SharedLayers>(&setup_.drafter)) {
            return first_layers(target_weights_, shared->layers, shared->window, shared->sink);
        }
        if (const auto* own = std::get_if<OwnModel>(&setup_.drafter)) {
            return random_weights(own->model, setup_.elements, stream_seed(setup_, Stream::drafter_weights), memory_);
        }
        return {};
    }

    std::unique_ptr<Drafting> make_drafting() {
        int* ids = verifier_.result().draft_ids;
        if (drafter_weights_.blocks.empty()) {
            const auto* lookup = std::get_if<NgramLookup>(&setup_.drafter);
            return std::make_unique<HostDrafting>(setup_.tree, lookup == nullptr ? std::nullopt : std::optional(*lookup),
                                                  batch_, memory_, table_, ids);
        }
        return std::make_unique<ModelDrafting>(setup_, batch_, drafter_weights_, memory_, table_, ids,
                                               PromptReader::most_rows(batch_, setup_.prompt_tokens));
    }

    void read_prompts() {
        const std::uint64_t seed = stream_seed(setup_, Stream::contexts);
        if (setup_.context_tokens > 0) {
            verifier_.network().fill_context(setup_.context_tokens, verifier_.live_states(), seed);
        }
        const Clock::time_point start = Clock::now();
        reader_.read(verifier_.network(), texts_, verifier_.live_states());
        drafting_->read_prompt(texts_, reader_, seed);
        memory_.backend().wait(memory_.queue());
        result_.prompt_seconds = seconds_since(start);
    }

    [[nodiscard]] bool is_finished(std::size_t sequence) const {
        return result_.tokens[sequence].size() == static_cast<std::size_t>(setup_.new_tokens);
    }
    [[nodiscard]] bool done() const {
        return std::all_of(result_.tokens.begin(), result_.tokens.end(), [&](const std::vector<int>& tokens) {
            return tokens.size() == static_cast<std::size_t>(setup_.new_tokens);
        });
    }

    std::vector<Outcome> round(const std::vector<Outcome>& last) {
        const Clock::time_point start = Clock::now();
        verifier_.prepare(last, texts_);
        drafting_->prepare(last, texts_);
        table_.upload();
        RoundWork work = {[&] { verifier_.rollback(); }, [&] { drafting_->draft(); }, [&] { verifier_.verify(); },
                          [&] { verifier_.accept(); }};
        if (last.empty()) {
            work.front() = nullptr;
        }
        device_->run(work);
        std::vector<Outcome> outcomes = verifier_.outcomes(given_paths());
        const double tokens = produce(outcomes);
        const double seconds = seconds_since(start);
        if (++result_.rounds > untimed_rounds()) {
            note_times(device_->times(), seconds, tokens);
        }
        return outcomes;
    }

    [[nodiscard]] int untimed_rounds() const { return setup_.untimed_rounds + (batch_.fixed_shapes ? 3 : 0); }

    std::vector<std::vector<int>> given_paths() {
        std::vector<std::vector<int>> paths;
        for (std::size_t s = 0; setup_.given_acceptance && s < texts_.size(); ++s) {
            paths.push_back(accepted_by_chance(setup_.tree, *setup_.given_acceptance, random_));
        }
        return paths;
    }

    /// Adds what a round produced; the number of tokens. A sequence that becomes whole keeps the text it had, and from then on
    /// repeats that round without an outcome.
    double produce(std::vector<Outcome>& outcomes) {
        if (setup_.measure_margin) {
            result_.smallest_margin = std::min(result_.smallest_margin, verifier_.margin(unfinished(outcomes)));
        }
        std::size_t produced = 0;
        for (std::size_t s = 0; s < outcomes.size(); ++s) {
            if (is_finished(s)) {
                outcomes[s].finished = true;
                continue;
            }
            const std::vector<int>& ids = outcomes[s].ids;
            std::vector<int>& tokens = result_.tokens[s];
            const std::size_t wanted = std::min(ids.size(), static_cast<std::size_t>(setup_.new_tokens) - tokens.size());
            tokens.insert(tokens.end(), ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(wanted));
            ++result_.rounds_by_accepted[ids.size() - 1];
            produced += wanted;
            outcomes[s].finished = is_finished(s);
            if (!outcomes[s].finished) {
                texts_[s].tokens.insert(texts_[s].tokens.end(), ids.begin(), ids.end());
            }
        }
        return static_cast<double>(produced);
    }

    [[nodiscard]] std::vector<Outcome> unfinished(std::vector<Outcome> outcomes) const {
        for (std::size_t s = 0; s < outcomes.size(); ++s) {
            if (is_finished(s)) {
                outcomes[s].rows.clear();
            }
        }
        return outcomes;
    }

    void note_times(const RoundTimes& times, double seconds, double tokens) {
        PhaseSeconds& all = result_.seconds;
        const std::array<std::vector<double>*, phase_count> columns = {&all.rollback, &all.draft, &all.verify, &all.accept};
        const bool told_apart = setup_.device == DeviceKind::cpu || setup_.graphs != GraphUse::round;
        double phases = 0.0;
        for (std::size_t phase = 0; told_apart && phase < phase_count; ++phase) {
            columns[phase]->push_back(times[phase]);
            phases += times[phase];
        }
        if (told_apart) {
            all.host.push_back(std::max(0.0, seconds - phases));
        }
        all.round.push_back(seconds);
        result_.tokens_per_round.push_back(tokens);
    }

    const DecodeSetup& setup_;
    Batch batch_;
    std::unique_ptr<Device> device_;
    Memory memory_;
    IndexTable table_;
    PromptReader reader_;
    NetworkWeights target_weights_, drafter_weights_;
    std::size_t weight_bytes_;
    Verifier verifier_;
    std::unique_ptr<Drafting> drafting_;
    std::vector<Text> texts_;
    numerics::Random random_;
    DecodeResult result_;
};

}  // namespace

bool available() { return true; }

DecodeResult decode(const DecodeSetup& setup, const std::function<void()>& between_rounds) {
    const std::vector<std::string> problems = problems_of(setup);
    if (!problems.empty()) {
        throw std::invalid_argument(problems.front());
    }
    return Run(setup).decode(between_rounds ? between_rounds : [] {});
}

}  // namespace treeline::decoder
