#include "reports/trust_text.h"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reports/objective_text.h"
#include "text/number_text.h"

namespace treeline::reports {
namespace {

/// Further digits differ between C libraries, whose erfc(), exp() and log() they come from.
constexpr int platform_digits = 6;

using Json = nlohmann::ordered_json;

/// "95 %"; nothing is certain.
std::string chance_text(double chance) {
    constexpr double certain = 0.995;
    return chance >= certain ? "more than 99 %" : fmt::format("{:.0f} %", 100.0 * chance);
}

/// Of a verdict that is open: rounded to an even chance, so that 79.6 % is not printed as the 80 % at which it would not be.
std::string open_chance_text(double chance) {
    return fmt::format("{:.0f} %", chance > 0.5 ? std::floor(100.0 * chance) : std::ceil(100.0 * chance));
}

/// "speculation pays with 95 %".
std::string verdict_clause(const sweeps::GainChances& chances) {
    switch (chances.verdict) {
        case numerics::Verdict::pays:
            return "speculation pays with " + chance_text(chances.pays);
        case numerics::Verdict::loses:
            return "speculation loses with " + chance_text(1.0 - chances.pays);
        case numerics::Verdict::open:
            break;
    }
    return "whether speculation pays is too close to call: it does with " + open_chance_text(chances.pays);
}

/// "the errors of 1,300 measured steps from 60 sources (540 of them with this engine; the most similar weigh most)".
std::string source_of_errors(const sweeps::MeasuredTime& measured) {
    return measured.own_deployment
               ? std::string("the errors at measured steps of your deployment")
               : fmt::format(
                     "the errors of {} measured steps from {} sources, {} of them with this engine; the most similar "
                     "weigh most",
                     measured.cases, measured.sources, measured.of_engine);
}

std::string source_sentence(const sweeps::Trust* trust) {
    if (trust == nullptr || !trust->measured) {
        return "The interval holds each input moved over its range, one at a time; no speed-up of such an engine was measured "
               "that no number was fitted to.";
    }
    const sweeps::MeasuredGain& measured = *trust->measured;
    const std::string errors =
        measured.own_deployment
            ? std::string("the errors at measured steps of your deployment")
            : fmt::format(
                  "the errors of {} measured speed-ups from {} sources that no number was fitted to ({} of them with this "
                  "engine; the most similar weigh most)",
                  measured.cases, measured.sources, measured.of_engine);
    std::string text = fmt::format(
        "The interval comes from {}, {} to {} with the acceptance as stated, and from what is unknown of the acceptance.",
        errors, text::ratio_text(measured.engine_low), text::ratio_text(measured.engine_high));
    if (trust->plain) {
        text += fmt::format(" Without speculation a token takes {:.0f} to {:.0f} % of the predicted time.",
                            100.0 * trust->plain->low, 100.0 * trust->plain->high);
    }
    return text;
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
    const std::string text = fmt::format(
        "In {} Monte Carlo draws of these errors and of all inputs the recommended configuration is the best {} times, and "
        "within {:.0f} % of the best {} times",
        choice.worlds, choice.best, 100.0 * choice.near_share, choice.near_best);
    return text + (choice.rival.empty() ? "." : fmt::format("; where it is not, {} wins most often.", choice.rival));
}

}  // namespace

std::string gain_sentence(const sweeps::GainInterval& ranges, const sweeps::Trust* trust, sweeps::Objective objective) {
    const ShownInterval shown = shown_interval(ranges, trust);
    const std::string interval = fmt::format("the gain in {} lies between {} and {}",
                                             ranges.of_capacity ? "requests that can be served" : quantity_text(objective),
                                             text::ratio_text(shown.low), text::ratio_text(shown.high));
    if (trust == nullptr || !trust->measured) {
        return fmt::format(
            "As each input moves over its range, {}; no speed-up of such an engine was measured that no number was fitted to.",
            interval);
    }
    return fmt::format("With {:.0f} % confidence {}{}.", 100.0 * trust->measured->nominal, interval,
                       trust->chances ? "; " + verdict_clause(*trust->chances) : std::string());
}

std::string plain_time_sentence(const sweeps::MeasuredTime& measured, Seconds time) {
    return fmt::format("With {:.0f} % confidence a token takes {} to {} ({}).", 100.0 * measured.nominal,
                       text_of(time * measured.low), text_of(time * measured.high), source_of_errors(measured));
}

Json plain_time_json(const std::optional<sweeps::MeasuredTime>& measured) {
    if (!measured) {
        return {};
    }
    return {{"nominal", measured->nominal},
            {"low", text::rounded(measured->low, platform_digits)},
            {"high", text::rounded(measured->high, platform_digits)},
            {"cases", measured->cases},
            {"sources", measured->sources},
            {"cases_of_engine", measured->of_engine}};
}

std::string chances_sentence(const sweeps::GainChances& chances) {
    std::string text = verdict_clause(chances);
    text.front() = static_cast<char>(text.front() - 'a' + 'A');
    return text + " confidence.";
}

Json chances_json(const sweeps::GainChances& chances) {
    const char* verdict = chances.verdict == numerics::Verdict::pays    ? "pays"
                          : chances.verdict == numerics::Verdict::loses ? "loses"
                                                                        : "open";
    return {{"pays", text::rounded(chances.pays, platform_digits)}, {"verdict", verdict}};
}

std::string rejected_text(const sweeps::RejectedDrafting& rejected) {
    return fmt::format("The best that drafts, {}, is predicted at {} of plain decoding.{}", rejected.label,
                       text::ratio_text(rejected.gain),
                       rejected.chances && !rejected.limit ? " " + chances_sentence(*rejected.chances) : std::string());
}

ShownInterval shown_interval(const sweeps::GainInterval& ranges, const sweeps::Trust* trust) {
    if (trust == nullptr || !trust->measured) {
        return {ranges.low, ranges.high};
    }
    return {text::rounded(trust->measured->low, platform_digits), text::rounded(trust->measured->high, platform_digits)};
}

std::vector<std::string> trust_sentences(const sweeps::GainInterval& ranges, const sweeps::Trust* trust,
                                         sweeps::Objective objective) {
    std::vector<std::string> sentences = {gain_sentence(ranges, trust, objective), source_sentence(trust)};
    if (trust != nullptr) {
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
                            {"low", text::rounded(measured.low, platform_digits)},
                            {"high", text::rounded(measured.high, platform_digits)},
                            {"low_as_stated", text::rounded(measured.engine_low, platform_digits)},
                            {"high_as_stated", text::rounded(measured.engine_high, platform_digits)},
                            {"time_low", trust.plain ? Json(trust.plain->low) : Json()},
                            {"time_high", trust.plain ? Json(trust.plain->high) : Json()},
                            {"cases", measured.cases},
                            {"sources", measured.sources},
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
