#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "json/parse.h"
#include "json/reader.h"
#include "json/wording.h"
#include "requests/validate/measured_rows_reader.h"
#include "sim/input_limits.h"
#include "text/input_error.h"
#include "text/input_file.h"
#include "text/parse_number.h"
#include "text/problems.h"

namespace treeline::requests {
namespace {

using Json = nlohmann::ordered_json;

/// Beside those that the reader below takes: for people, or about other things than the speed-up.
const std::vector<std::string> unread_fields = {
    "place", "better", "accept_length_definition", "accept_rate", "temperature", "per_position_acceptance", "time_fractions"};

const std::vector<std::string> read_fields = {"id",
                                              "series",
                                              "source",
                                              "citation",
                                              "engine",
                                              "engine_version",
                                              "target_model",
                                              "target_precision",
                                              "gpu",
                                              "dataset",
                                              "drafter_type",
                                              "drafter_model",
                                              "draft_tokens",
                                              "tree",
                                              "accept_length",
                                              "accept_length_derived",
                                              "n_gpus",
                                              "tp",
                                              "dp",
                                              "ep",
                                              "dcp",
                                              "parallelism",
                                              "notes",
                                              "pp",
                                              "input_len",
                                              "output_len",
                                              "context_len",
                                              "batch_or_concurrency",
                                              "concurrency_kind",
                                              "metric",
                                              "speedup",
                                              "value_without",
                                              "value_with",
                                              "is_pair",
                                              "suspect",
                                              "duplicate_of",
                                              "confidence"};

bool is_known(const std::string& field) {
    return std::find(read_fields.begin(), read_fields.end(), field) != read_fields.end() ||
           std::find(unread_fields.begin(), unread_fields.end(), field) != unread_fields.end();
}

constexpr double largest = 1e9;
/// Of a rate or a time: what was measured is above 0.
constexpr double least_value = 1e-9;

/// A number, or a text that holds one or a range of them: 8192, "34K-64K context" (its middle). "<=2048" is a limit, not a
/// length, and says nothing.
std::optional<double> length_of(json::Reader& at, const char* key) {
    if (!at.has(key)) {
        return std::nullopt;
    }
    const Json& raw = at.raw().at(key);
    if (!raw.is_string()) {
        return at.number(key, 0.0, largest);
    }
    const std::string text = raw.get<std::string>();
    if (text.find('<') != std::string::npos) {
        return std::nullopt;
    }
    std::vector<double> values;
    for (std::size_t i = 0; i < text.size() && values.size() < 2;) {
        std::size_t end = i;
        while (end < text.size() && (std::isdigit(static_cast<unsigned char>(text[end])) != 0 || text[end] == '.')) {
            ++end;
        }
        if (const std::optional<double> value = text::parse_number(std::string_view(text).substr(i, end - i));
            end > i && value) {
            const bool thousands = end < text.size() && (text[end] == 'K' || text[end] == 'k');
            values.push_back(*value * (thousands ? 1024.0 : 1.0));
        }
        i = std::max(end, i + 1);
    }
    return values.empty() ? std::nullopt : std::optional(0.5 * (values.front() + values.back()));
}

std::optional<double> number_or_none(json::Reader& at, const char* key, double low) {
    return at.has(key) ? std::optional(at.number(key, low, largest)) : std::nullopt;
}

/// A whole number of devices.
std::optional<double> ranks_or_none(json::Reader& at, const char* key, std::int64_t low) {
    return at.has(key) ? std::optional(static_cast<double>(at.count(key, low, sim::most_ranks))) : std::nullopt;
}

/// The ratio as stated, or that of the two values.
std::optional<double> speed_up_of(json::Reader& at) {
    const std::optional<double> without = number_or_none(at, "value_without", least_value);
    const std::optional<double> with = number_or_none(at, "value_with", least_value);
    if (at.has("speedup")) {
        return at.number("speedup", 1e-6, 1e6);
    }
    if (!without || !with) {
        return std::nullopt;
    }
    return at.text_or("better", "higher") == "lower" ? *without / *with : *with / *without;
}

void read_draft(json::Reader& at, validation::SpeculationRow& row) {
    row.drafter = at.text("drafter_type");
    row.drafter_model = at.text_or("drafter_model", "");
    row.draft_tokens =
        at.has("draft_tokens") ? std::optional(at.number("draft_tokens", 0.0, sim::most_draft_tokens)) : std::nullopt;
    if (std::optional<json::Reader> tree = at.optional_object("tree")) {
        row.tree_steps = number_or_none(*tree, "steps", 0.0);
        row.tree_top_k = number_or_none(*tree, "topk", 0.0);
        row.tree_size = number_or_none(*tree, "num_draft_tokens", 0.0);
    }
    row.accept_length = number_or_none(at, "accept_length", 1.0);
    row.prints_accept_length = row.accept_length.has_value();
    if (const std::optional<double> derived = number_or_none(at, "accept_length_derived", 1.0); !row.accept_length) {
        row.accept_length = derived;
    }
}

/// A round yields one token more than its longest chain of drafts; a pair that says more is of other drafts than it states.
void refuse_impossible_length(json::Reader& at, const validation::SpeculationRow& row) {
    constexpr double rounding = 0.02;
    const double deepest = std::max(row.draft_tokens.value_or(0.0), row.tree_steps.value_or(0.0));
    if (row.speed_up && deepest > 0.0 && row.accept_length.value_or(1.0) > deepest + 1.0 + rounding) {
        at.problem("accept_length", fmt::format("is {:g}, but rounds of {:g} draft tokens yield at most {:g}",
                                                *row.accept_length, deepest, deepest + 1.0));
    }
}

/// Of decode context parallelism: a field of its own, or "decode-context-parallel 8" in the notes.
std::optional<double> context_ranks_of(json::Reader& at) {
    static constexpr std::string_view words = "decode-context-parallel ";
    const std::string notes = at.text_or("notes", "");
    const std::size_t place = notes.find(words);
    if (at.has("dcp") || place == std::string::npos) {
        return ranks_or_none(at, "dcp", 1);
    }
    const std::size_t begin = place + words.size();
    const std::size_t end = notes.find_first_not_of("0123456789", begin);
    return text::parse_number(notes.substr(begin, end == std::string::npos ? end : end - begin));
}

/// "TP4", "tp=2 pp 2", "TP8EP8": what it says of ranks, where the fields of their own are silent.
void read_parallelism(json::Reader& at, validation::StatedParallelism& ranks) {
    const std::string text = at.text_or("parallelism", "");
    const std::array<std::pair<std::string_view, std::optional<double>*>, 4> words = {
        {{"tp", &ranks.tensor}, {"dp", &ranks.data}, {"ep", &ranks.expert}, {"pp", &ranks.pipeline}}};
    for (std::size_t begin = 0; begin + 1 < text.size(); ++begin) {
        const std::string_view word = std::string_view(text).substr(begin, 2);
        const auto found = std::find_if(words.begin(), words.end(), [&](const auto& known) {
            return std::tolower(static_cast<unsigned char>(word[0])) == known.first[0] &&
                   std::tolower(static_cast<unsigned char>(word[1])) == known.first[1];
        });
        const bool starts = begin == 0 || std::isalpha(static_cast<unsigned char>(text[begin - 1])) == 0;
        if (found == words.end() || !starts) {
            continue;
        }
        const std::size_t digits = text.find_first_not_of(" =:-_", begin + 2);
        const std::size_t end = std::min(text.find_first_not_of("0123456789", digits), text.size());
        const std::optional<double> number =
            digits < end ? text::parse_number(text.substr(digits, end - digits)) : std::nullopt;
        if (number && *number >= 1.0 && *number <= static_cast<double>(sim::most_ranks) && !*found->second) {
            *found->second = number;
        }
    }
}

/// The reason why a row is marked; it may also just say true.
std::string mark_of(json::Reader& at, const char* key) {
    if (at.has(key) && at.raw().at(key).is_boolean()) {
        return at.flag_or(key, false) ? "marked without a reason" : "";
    }
    return at.text_or(key, "");
}

validation::SpeculationRow read_row(json::Reader& at, validation::RowPlace place) {
    validation::SpeculationRow row;
    row.place = std::move(place);
    row.id = at.text("id");
    row.series = at.text("series");
    row.source = at.text_or("source", "");
    row.citation = at.text_or("citation", "");
    row.engine = at.text("engine");
    row.engine_version = at.text_or("engine_version", "");
    row.model = at.text("target_model");
    row.format = at.text_or("target_precision", "");
    row.device = at.text("gpu");
    row.dataset = at.text_or("dataset", "");
    read_draft(at, row);
    row.ranks.devices = ranks_or_none(at, "n_gpus", 0);
    row.ranks.tensor = ranks_or_none(at, "tp", 1);
    row.ranks.data = ranks_or_none(at, "dp", 1);
    row.ranks.expert = ranks_or_none(at, "ep", 1);
    row.ranks.pipeline = ranks_or_none(at, "pp", 1);
    row.ranks.context = context_ranks_of(at);
    read_parallelism(at, row.ranks);
    row.prompt_tokens = length_of(at, "input_len");
    row.output_tokens = length_of(at, "output_len");
    row.thinks = at.raw().contains("output_len") && at.raw().at("output_len").is_string() &&
                 at.raw().at("output_len").get<std::string>().find("thinking") != std::string::npos;
    row.context = length_of(at, "context_len");
    row.batch = number_or_none(at, "batch_or_concurrency", 1.0);
    row.batch_kind = at.text_or("concurrency_kind", "");
    row.metric = at.text("metric");
    row.value_without = number_or_none(at, "value_without", least_value);
    row.speed_up = speed_up_of(at);
    refuse_impossible_length(at, row);
    row.is_pair = at.flag_or("is_pair", false);
    row.suspect = mark_of(at, "suspect");
    row.duplicate_of = at.text_or("duplicate_of", "");
    row.confidence = at.text_or("confidence", "");
    return row;
}

/// Prompts of this many tokens take a share of a request that its ratio shows.
constexpr double long_prompt = 2048.0;

/// What a bare ratio is of matters where prompts are long.
void note_bare_ratios(const std::vector<validation::SpeculationRow>& rows, const std::string& name,
                      std::vector<std::string>& notes) {
    const auto count = std::count_if(rows.begin(), rows.end(), [](const validation::SpeculationRow& row) {
        return row.metric == "speedup" && row.prompt_tokens.value_or(row.context.value_or(0.0)) >= long_prompt;
    });
    if (count > 0) {
        notes.push_back(fmt::format(
            "{}: {} rows state a bare ratio (metric \"speedup\") with prompts of {:g} tokens or more; it is taken as that of "
            "whole requests, prompts included, not of rounds; a ratio of rounds has the metric tpot_ms or tok_s_per_user",
            name, count, long_prompt));
    }
}

}  // namespace

std::vector<validation::SpeculationRow> read_speculation_rows(const std::filesystem::path& path,
                                                              std::vector<std::string>& notes,
                                                              std::vector<std::string>* bad_rows) {
    const std::string name = path.filename().string();
    json::Parsed parsed = json::parse_strictly(text::read_file(path));
    if (!parsed.failure.empty()) {
        throw text::InputError({name + ": " + parsed.failure});
    }
    if (!parsed.tree.is_array() || parsed.tree.empty()) {
        throw text::InputError({name + ": must hold a list of rows in brackets"});
    }
    for (const std::string& key : parsed.duplicate_keys) {
        notes.push_back(fmt::format("{}: {}: this key appears twice, and the first one counts", name, key));
    }
    std::vector<validation::SpeculationRow> rows;
    std::vector<std::string> bad;
    std::map<std::string, std::size_t> unused;
    std::set<std::string> seen;
    std::vector<std::string>& left_out = bad_rows == nullptr ? notes : *bad_rows;
    for (std::size_t number = 1; number <= parsed.tree.size(); ++number) {
        Json& tree = parsed.tree[number - 1];
        for (const char* field : {"notes", "source"}) {  // an empty text says as little as a missing one
            if (tree.is_object() && tree.contains(field) && tree[field] == "") {
                tree.erase(field);
            }
        }
        std::string whole = tree.dump();
        json::Document document = json::Document::of(std::move(tree), fmt::format("{}: row {}", name, number));
        json::Reader at = document.root();
        validation::SpeculationRow row = read_row(at, {name, number});
        if (document.problems().empty() && !seen.insert(std::move(whole)).second) {
            text::add_problem(left_out,
                              fmt::format("{}: row {}: says the same as an earlier row{}", name, number, text::left_out_row));
        } else if (document.problems().empty()) {
            rows.push_back(std::move(row));
        } else {
            const std::string why = text::listed(document.problems(), "and");
            text::add_problem(bad, why);
            text::add_problem(left_out, why + text::left_out_row);
        }
        for (const std::string& field : at.keys()) {
            unused[field] += is_known(field) ? 0 : 1;
        }
    }
    if (rows.empty()) {
        throw text::InputError(std::move(bad));
    }
    note_bare_ratios(rows, name, notes);
    for (const auto& [field, count] : unused) {
        if (count > 0) {
            notes.push_back(fmt::format("{}: the field \"{}\" is not used ({} rows)", name, field, count));
        }
    }
    return rows;
}

}  // namespace treeline::requests
