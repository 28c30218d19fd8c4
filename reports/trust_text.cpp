#include "reports/trust_text.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reports/objective_text.h"
#include "text/number_text.h"

namespace treeline::reports {
namespace {

using Json = nlohmann::ordered_json;

std::string interval_sentence(const sweeps::GainInterval& ranges, const sweeps::Trust* trust, sweeps::Objective objective) {
    const std::string quantity = quantity_text(objective);
    if (trust == nullptr || !trust->measured) {
        return fmt::format(
            "The gain in {} lies between {} and {} as each input moves over its range. No serving engine like "
            "this one was measured, so how often that holds is not known.",
            quantity, text::ratio_text(ranges.low), text::ratio_text(ranges.high));
    }
    const sweeps::MeasuredGain& measured = *trust->measured;
    return fmt::format(
        "With the acceptance as stated, the gain in {} lies between {} and {} with {:.0f} % confidence. That is what "
        "predictions "
        "missed on {} speed-ups measured with {} deployments ({} of them with this engine), those most alike weighing most; "
        "times per token without speculation come out between {:.0f} and {:.0f} % of what is predicted.",
        quantity, text::ratio_text(measured.low), text::ratio_text(measured.high), 100.0 * measured.nominal, measured.cases,
        measured.deployments, measured.of_engine, 100.0 * measured.time_low, 100.0 * measured.time_high);
}

std::string other_mode_sentence(const sweeps::OtherMode& other) {
    return fmt::format(
        "In {} mode the gain is {}, {}.", name_of(other.mode), text::ratio_text(other.gain),
        other.inside ? "inside that interval" : "outside that interval: the two modes disagree by more than it says");
}

std::string switch_off_sentence(const sweeps::SwitchOffRange& range) {
    const std::string end = fmt::format("batch {}, where the schedule ends", range.largest_batch);
    if (!range.earliest) {
        return fmt::format("With 80 % confidence drafting pays at each batch up to {}.", end);
    }
    const std::string pays = *range.earliest > 1
                                 ? fmt::format("With 80 % confidence drafting pays up to batch {}", *range.earliest - 1)
                                 : std::string("At no batch does drafting pay with 80 % confidence");
    if (!range.latest) {
        return fmt::format("{}; beyond, up to {}, it is too close to call.", pays, end);
    }
    return *range.latest == *range.earliest
               ? fmt::format("{}, and loses from there on.", pays)
               : fmt::format("{}, and loses from batch {} on; between, it is too close to call.", pays, *range.latest);
}

std::string choice_sentence(const sweeps::ChoiceWorlds& choice) {
    std::string text = fmt::format(
        "Of {} worlds drawn from these errors and from the ranges of all inputs, the recommended configuration is the best in "
        "{}, "
        "and at most {:.0f} % from it in {}",
        choice.worlds, choice.best, 100.0 * choice.near_share, choice.near_best);
    return text + (choice.rival.empty() ? "." : fmt::format("; {} wins most of the others.", choice.rival));
}

}  // namespace

std::string chances_sentence(const sweeps::GainChances& chances) {
    const std::string source = "by what predictions missed on measured speed-ups";
    switch (chances.verdict) {
        case numerics::Verdict::pays:
            return fmt::format("Speculation pays, with {:.0f} % confidence, {}.", 100.0 * chances.pays, source);
        case numerics::Verdict::loses:
            return fmt::format("Speculation loses, with {:.0f} % confidence, {}.", 100.0 * (1.0 - chances.pays), source);
        case numerics::Verdict::open:
            break;
    }
    return fmt::format("Whether speculation pays is too close to call: it does with a probability of {:.0f} %, {}.",
                       100.0 * chances.pays, source);
}

Json chances_json(const sweeps::GainChances& chances) {
    const char* verdict = chances.verdict == numerics::Verdict::pays    ? "pays"
                          : chances.verdict == numerics::Verdict::loses ? "loses"
                                                                        : "open";
    return {{"pays", chances.pays}, {"verdict", verdict}};
}

std::string rejected_text(const sweeps::RejectedDrafting& rejected) {
    return fmt::format("The best that drafts, {}, is predicted at {} of plain decoding.{}", rejected.label,
                       text::ratio_text(rejected.gain),
                       rejected.chances ? " " + chances_sentence(*rejected.chances) : std::string());
}

ShownInterval shown_interval(const sweeps::GainInterval& ranges, const sweeps::Trust* trust) {
    return trust != nullptr && trust->measured ? ShownInterval{trust->measured->low, trust->measured->high}
                                               : ShownInterval{ranges.low, ranges.high};
}

std::vector<std::string> trust_sentences(const sweeps::GainInterval& ranges, const sweeps::Trust* trust,
                                         sweeps::Objective objective) {
    std::vector<std::string> sentences = {interval_sentence(ranges, trust, objective)};
    if (trust != nullptr) {
        if (trust->chances) {
            sentences.push_back(chances_sentence(*trust->chances));
        }
        if (trust->other_mode) {
            sentences.push_back(other_mode_sentence(*trust->other_mode));
        }
        if (trust->switch_off) {
            sentences.push_back(switch_off_sentence(*trust->switch_off));
        }
        if (trust->choice) {
            sentences.push_back(choice_sentence(*trust->choice));
        }
    }
    return sentences;
}

Json trust_json(const sweeps::Trust& trust) {
    Json json = Json::object();
    json["measured"] = nullptr;
    if (trust.measured) {
        const sweeps::MeasuredGain& measured = *trust.measured;
        json["measured"] = {{"nominal", measured.nominal},
                            {"low", measured.low},
                            {"high", measured.high},
                            {"time_low", measured.time_low},
                            {"time_high", measured.time_high},
                            {"cases", measured.cases},
                            {"deployments", measured.deployments},
                            {"cases_of_engine", measured.of_engine}};
    }
    json["chances"] = trust.chances ? chances_json(*trust.chances) : Json();
    json["other_mode"] = nullptr;
    if (trust.other_mode) {
        json["other_mode"] = {
            {"mode", name_of(trust.other_mode->mode)}, {"gain", trust.other_mode->gain}, {"inside", trust.other_mode->inside}};
    }
    json["switch_off"] = nullptr;
    if (trust.switch_off) {
        const auto or_null = [](const std::optional<int>& batch) { return batch ? Json(*batch) : Json(); };
        json["switch_off"] = {{"earliest_batch", or_null(trust.switch_off->earliest)},
                              {"latest_batch", or_null(trust.switch_off->latest)},
                              {"largest_batch", trust.switch_off->largest_batch}};
    }
    json["choice"] = nullptr;
    if (trust.choice) {
        json["choice"] = {{"worlds", trust.choice->worlds},
                          {"best", trust.choice->best},
                          {"near_best", trust.choice->near_best},
                          {"near_share", trust.choice->near_share},
                          {"rival", trust.choice->rival}};
    }
    return json;
}

}  // namespace treeline::reports
