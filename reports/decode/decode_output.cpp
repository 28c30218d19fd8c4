#include "reports/decode/decode_output.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "numerics/quantile.h"
#include "text/number_text.h"
#include "text/table.h"

namespace treeline::reports {
namespace {

using Json = nlohmann::ordered_json;
using decoder::DecodeResult;

struct NamedPhase {
    const char* name;
    std::vector<double> decoder::PhaseSeconds::*seconds;
};
constexpr NamedPhase phases[] = {{"draft", &decoder::PhaseSeconds::draft},   {"verify", &decoder::PhaseSeconds::verify},
                                 {"accept", &decoder::PhaseSeconds::accept}, {"rollback", &decoder::PhaseSeconds::rollback},
                                 {"host", &decoder::PhaseSeconds::host},     {"round", &decoder::PhaseSeconds::round}};

double total(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

std::string phase_table(const decoder::DecodeAnswer& answer) {
    std::vector<text::Column> columns = {{"Phase", text::Align::left}, {"median"}, {"total"}, {"share"}};
    if (answer.plain) {
        columns.push_back({"plain, median"});
    }
    text::TextTable table(std::move(columns));
    const double all = total(answer.decoded.seconds.round);
    for (const NamedPhase& phase : phases) {
        const std::vector<double>& seconds = answer.decoded.seconds.*phase.seconds;
        if (seconds.empty()) {
            continue;
        }
        if (phase.seconds == &decoder::PhaseSeconds::round) {
            table.add_rule();
        }
        std::vector<std::string> cells = {phase.name, text_of(Seconds(numerics::quantile(seconds, 0.5))),
                                          text_of(Seconds(total(seconds))), text::percent_text(total(seconds) / all)};
        if (answer.plain) {
            cells.push_back(text_of(Seconds(numerics::quantile(answer.plain->seconds.*phase.seconds, 0.5))));
        }
        table.add(std::move(cells));
    }
    return table.text();
}

std::string accepted_text(const DecodeResult& result) {
    std::string text;
    for (std::size_t accepted = 0; accepted < result.rounds_by_accepted.size(); ++accepted) {
        text += fmt::format("{}{}: {}", accepted == 0 ? "" : ", ", accepted, result.rounds_by_accepted[accepted]);
    }
    return text;
}

std::string same_tokens_text(const decoder::DecodeAnswer& answer) {
    if (answer.equal_tokens() == answer.all_tokens()) {
        return fmt::format("all {} are those of plain greedy decoding", text::grouped_text(answer.all_tokens()));
    }
    return fmt::format("{} of {} before the first difference from plain decoding{}", text::grouped_text(answer.equal_tokens()),
                       text::grouped_text(answer.all_tokens()),
                       answer.is_greedy() ? ": rounding decided between two ids" : ", as acceptance is given");
}

/// "1,240 (1,180 to 1,260 in 3 runs)".
std::string rate_text(const DecodeResult& result) {
    const std::vector<double>& runs = result.tokens_per_second_of_runs;
    const auto [low, high] = std::minmax_element(runs.begin(), runs.end());
    return text::short_text(result.tokens_per_second()) +
           (runs.size() > 1
                ? fmt::format(" ({} to {} in {} runs)", text::short_text(*low), text::short_text(*high), runs.size())
                : "");
}

/// "rounds of 2.1 ms to 2.4 ms".
std::string half_text(const DecodeResult& result) {
    const auto [quick, slow] = result.middle_half();
    return fmt::format("rounds of {} to {}", text_of(Seconds(quick)), text_of(Seconds(slow)));
}

double scatter_of(const decoder::DecodeAnswer& answer) {
    return std::max(decoder::scatter_of(answer.decoded), answer.plain ? decoder::scatter_of(*answer.plain) : 0.0);
}

/// Notes of the run, and that its times are not to be relied on where they scatter.
std::vector<std::string> notes_of(const decoder::DecodeAnswer& answer) {
    constexpr double much = 0.2;
    std::vector<std::string> notes = answer.decoded.notes;
    if (const double scatter = scatter_of(answer); scatter > much) {
        const bool several = answer.decoded.tokens_per_second_of_runs.size() > 1;
        notes.push_back(fmt::format("{} are {} apart: something else may run on this machine, so do not rely on times{}.",
                                    several ? "The fastest and the slowest run" : "The quartiles of rounds",
                                    text::ratio_text(1.0 + scatter), several ? "" : "; --repeat 5 shows how runs differ"));
    }
    return notes;
}

std::string facts(const decoder::DecodeAnswer& answer) {
    const decoder::DecodeInput& input = answer.input;
    const decoder::DecodeSetup& setup = input.setup;
    text::FactList list;
    list.add("Target", setup.target.name);
    list.add("Drafter", input.drafter_label);
    list.add("Draft", fmt::format("{}, {}, {}", input.shape_label, name_of(setup.verification), name_of(setup.rollback)));
    list.add("Run", fmt::format("batch {}, context {} + prompt {}, {} new tokens, {} (states {}), {}", setup.batch,
                                setup.context_tokens, setup.prompt_tokens, setup.new_tokens,
                                setup.elements == kernels::ElementType::bf16 ? "bf16" : "fp32",
                                setup.state_elements == kernels::ElementType::bf16 ? "bf16" : "fp32", answer.decoded.device));
    list.add("Rounds", fmt::format("{}, {} of them timed", answer.decoded.rounds, answer.decoded.seconds.round.size()));
    list.add("Accept length", fmt::format("{} (rounds by accepted drafts {})",
                                          text::fixed_text(answer.decoded.accept_length(), 2), accepted_text(answer.decoded)));
    list.add("Tokens/s", rate_text(answer.decoded) + (answer.plain ? ", plain " + rate_text(*answer.plain) : std::string()));
    list.add("Middle half", half_text(answer.decoded) + (answer.plain ? ", plain " + half_text(*answer.plain) : std::string()));
    if (answer.plain) {
        list.add("Tokens", same_tokens_text(answer));
    }
    list.add("Peak memory", fmt::format("{}, of which {} are weights", text_of(Bytes(double(answer.decoded.peak_bytes))),
                                        text_of(Bytes(double(answer.decoded.weight_bytes)))));
    list.add("Prompt", text_of(Seconds(answer.decoded.prompt_seconds)));
    return list.text();
}

Json result_json(const DecodeResult& result) {
    Json medians = Json::object(), totals = Json::object(), rounds = Json::object();
    for (const NamedPhase& phase : phases) {
        const std::vector<double>& seconds = result.seconds.*phase.seconds;
        if (!seconds.empty()) {
            medians[phase.name] = numerics::quantile(seconds, 0.5);
            totals[phase.name] = total(seconds);
            rounds[phase.name] = seconds;
        }
    }
    rounds["tokens"] = result.tokens_per_round;
    return {{"tokens_per_second", result.tokens_per_second()},
            {"tokens_per_second_of_runs", result.tokens_per_second_of_runs},
            {"middle_half_seconds", {result.middle_half().first, result.middle_half().second}},
            {"accept_length", result.accept_length()},
            {"rounds", result.rounds},
            {"rounds_by_accepted", result.rounds_by_accepted},
            {"median_seconds", std::move(medians)},
            {"total_seconds", std::move(totals)},
            {"prompt_seconds", result.prompt_seconds},
            {"peak_bytes", result.peak_bytes},
            {"weight_bytes", result.weight_bytes},
            {"device", result.device},
            {"timed_rounds", std::move(rounds)},
            {"tokens", result.tokens}};
}

}  // namespace

std::string sentence_of(const decoder::DecodeAnswer& answer) {
    const DecodeResult& result = answer.decoded;
    if (result.seconds.round.empty()) {
        return "Too few rounds ran to time any; ask for more tokens.";
    }
    std::string sentence =
        fmt::format("A round takes {} (median) and yields {} tokens per sequence: {} tokens/s",
                    text_of(Seconds(numerics::quantile(result.seconds.round, 0.5))),
                    text::fixed_text(result.accept_length(), 2), text::short_text(result.tokens_per_second()));
    if (answer.plain && !answer.plain->seconds.round.empty()) {
        constexpr double twice = 1.0;
        sentence += scatter_of(answer) > twice ? "; times scatter too widely to compare with plain decoding"
                                               : fmt::format(", {} of plain decoding", text::ratio_text(answer.speedup()));
    }
    return sentence + ".";
}

std::string decode_table(const decoder::DecodeAnswer& answer) {
    std::string text = answer.input.title.empty() ? "" : answer.input.title + "\n\n";
    text += text::wrapped(sentence_of(answer), 100) + "\n\n" + facts(answer) + "\n" + phase_table(answer);
    const std::vector<std::string> notes = notes_of(answer);
    for (const std::string& note : notes) {
        text += "\nNote: " + text::wrapped(note, 100, "      ");
    }
    return text + (notes.empty() ? "" : "\n");
}

Json decode_json(const decoder::DecodeAnswer& answer) {
    const decoder::DecodeInput& input = answer.input;
    Json json = {{"format", "treeline-decode"},
                 {"version", 1},
                 {"title", input.title},
                 {"sentence", sentence_of(answer)},
                 {"target", input.setup.target.name},
                 {"drafter", input.drafter_label},
                 {"shape", input.shape_label},
                 {"verification", name_of(input.setup.verification)},
                 {"rollback", name_of(input.setup.rollback)},
                 {"batch", input.setup.batch},
                 {"prompt_tokens", input.setup.prompt_tokens},
                 {"context_tokens", input.setup.context_tokens},
                 {"seed", input.setup.seed},
                 {"repeat", input.repeat},
                 {"notes", notes_of(answer)},
                 {"decoded", result_json(answer.decoded)}};
    if (answer.plain) {
        json["plain"] = result_json(*answer.plain);
        json["speedup"] = answer.speedup();
        json["tokens_equal_to_plain"] = answer.equal_tokens();
        json["tokens_compared"] = answer.all_tokens();
    }
    return json;
}

std::string decode_csv(const decoder::DecodeAnswer& answer) {
    std::vector<std::string> titles = {"timed_round", "tokens"};
    std::vector<const std::vector<double>*> columns;
    for (const NamedPhase& phase : phases) {
        const std::vector<double>& seconds = answer.decoded.seconds.*phase.seconds;
        if (!seconds.empty()) {
            titles.push_back(fmt::format("{}_seconds", phase.name));
            columns.push_back(&seconds);
        }
    }
    std::string text = text::csv_line(titles);
    for (std::size_t round = 0; round < answer.decoded.seconds.round.size(); ++round) {
        std::vector<std::string> fields = {std::to_string(round + 1), text::exact_text(answer.decoded.tokens_per_round[round])};
        for (const std::vector<double>* column : columns) {
            fields.push_back(text::exact_text((*column)[round]));
        }
        text += text::csv_line(fields);
    }
    return text;
}

}  // namespace treeline::reports
