#include <fmt/format.h>

#include "json/reader.h"
#include "requests/tree_reader.h"
#include "text/parse_number.h"
#include "text/split.h"

namespace treeline::requests {
namespace {

constexpr double most_counted = 1e15;

std::vector<double> numbers_in(const std::string& text) {
    std::vector<double> numbers;
    for (const std::string& part : text::split(text, ',')) {
        const std::optional<double> value = text::parse_number(part);
        if (!value) {
            throw text::InputError(
                {fmt::format("--ranks: must be comma-separated numbers, such as 0.6,0.2,0.1, not \"{}\"", text)});
        }
        numbers.push_back(*value);
    }
    return numbers;
}

sim::RankAcceptance from_file(const std::string& file) {
    json::Document document = json::Document::load(file);
    json::Reader root = document.root();
    static_cast<void>(root.text_or("title", ""));
    static_cast<void>(root.text_or("source", ""));
    sim::RankAcceptance acceptance;
    const bool rates = root.has("ranks"), counts = root.has("accepted_by_rank");
    if (rates == counts) {
        static_cast<void>(root.has("none"));
        root.problem({}, rates ? "gives ranks and accepted_by_rank, but exactly one is needed"
                               : "needs one of ranks and accepted_by_rank");
    } else if (rates) {
        acceptance = sim::RankAcceptance(root.numbers("ranks", 0.0, 1.0));
    } else {
        const std::vector<double> accepted = root.numbers("accepted_by_rank", 0.0, most_counted);
        const double none = root.number("none", 0.0, most_counted);
        acceptance = sim::RankAcceptance::from_counts(accepted, none);
        if (acceptance.none() >= 1.0 && none <= 0.0) {
            root.problem({}, "counts nothing, so it gives no acceptance");
        }
    }
    root.finish();
    document.throw_if_problems();
    document.add_problems(acceptance.problems());
    document.throw_if_problems();
    return acceptance;
}

}  // namespace

std::optional<sim::RankAcceptance> read_rank_acceptance(const RankFlags& flags) {
    if (!flags.ranks.empty() && !flags.file.empty()) {
        throw text::InputError({"--ranks and --acceptance say the same thing; give one of them"});
    }
    if (!flags.file.empty()) {
        return from_file(flags.file);
    }
    if (flags.ranks.empty()) {
        return std::nullopt;
    }
    sim::RankAcceptance acceptance(numbers_in(flags.ranks));
    std::vector<std::string> problems = acceptance.problems();
    for (std::string& problem : problems) {
        problem = "--ranks: " + problem;
    }
    if (!problems.empty()) {
        throw text::InputError(std::move(problems));
    }
    return acceptance;
}

}  // namespace treeline::requests
